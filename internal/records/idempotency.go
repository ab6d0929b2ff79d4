package records

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
)

// An IdempotencyKey makes a create repeatable: by it, a store recognizes retries of
// the request that created a record. It is at most 44 ASCII characters, safe to
// store and to log. The first character keeps random keys and hashes apart.
type IdempotencyKey string

// NewIdempotencyKey returns a random key, for a request that brings none. It
// still identifies the store's own retries.
func NewIdempotencyKey() IdempotencyKey { return IdempotencyKey("r" + rand.Text()) }

// HashIdempotencyKey returns the key for an owner's Idempotency-Key header. It
// is a hash that reveals neither.
func HashIdempotencyKey(owner, header string) IdempotencyKey {
	h := sha256.New()
	// The length keeps ("ab", "c") and ("a", "bc") apart.
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(owner))))
	io.WriteString(h, owner+header)
	return IdempotencyKey("k" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)))
}
