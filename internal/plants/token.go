package plants

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A WriteToken identifies a create request, so that a store recognizes retries
// of the request that created a plant. It is ASCII text of fixed length, safe
// to store and to log.
type WriteToken string

// NewWriteToken returns a random token, for a request without an idempotency
// key. It still identifies the store's own retries.
func NewWriteToken() WriteToken {
	var b [sha256.Size]byte
	rand.Read(b[:]) // never fails
	return writeToken('r', b)
}

// KeyedWriteToken returns the token for an idempotency key of owner. It is a
// hash that reveals neither.
func KeyedWriteToken(owner, key string) WriteToken {
	h := sha256.New()
	// The length keeps ("ab", "c") and ("a", "bc") apart.
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(owner))))
	h.Write([]byte(owner))
	h.Write([]byte(key))
	return writeToken('k', [sha256.Size]byte(h.Sum(nil)))
}

// writeToken prefixes the kind, so that no key can produce a random token.
func writeToken(kind byte, sum [sha256.Size]byte) WriteToken {
	return WriteToken(string(kind) + base64.RawURLEncoding.EncodeToString(sum[:]))
}
