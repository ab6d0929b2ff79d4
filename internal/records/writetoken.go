package records

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
)

// A WriteToken makes a create repeatable: by it, a store recognizes retries of the
// request that created a record. It is at most 44 ASCII characters, safe to store and
// to log. The first character keeps random tokens and hashes apart.
type WriteToken string

// NewWriteToken returns a random token, for a request without the header Idempotency-Key.
// It still identifies the store's own retries.
func NewWriteToken() WriteToken { return WriteToken("r" + rand.Text()) }

// HashWriteToken returns the token for an owner's Idempotency-Key header. It
// is a hash that reveals neither.
func HashWriteToken(owner, header string) WriteToken {
	h := sha256.New()
	// The length keeps ("ab", "c") and ("a", "bc") apart.
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(owner))))
	io.WriteString(h, owner+header)
	return WriteToken("k" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)))
}
