package plants

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A WriteToken tells the request that made a plant from all others, so that a
// store knows a request that it has carried out already when it comes again.
// It is ASCII text of fixed length, safe to store and to log.
type WriteToken string

// NewWriteToken returns a random token, for a request that can't be repeated
// by its client. A store's own retries still carry it.
func NewWriteToken() WriteToken {
	var b [sha256.Size]byte
	rand.Read(b[:]) // never fails
	return writeToken('r', b)
}

// KeyedWriteToken returns the token of owner's requests with the given
// idempotency key. It is a hash, from which neither can be read.
func KeyedWriteToken(owner, key string) WriteToken {
	h := sha256.New()
	// The length keeps ("ab", "c") and ("a", "bc") apart.
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(owner))))
	h.Write([]byte(owner))
	h.Write([]byte(key))
	return writeToken('k', [sha256.Size]byte(h.Sum(nil)))
}

// writeToken marks the two kinds apart, so that no key can hit a random token.
func writeToken(kind byte, sum [sha256.Size]byte) WriteToken {
	return WriteToken(string(kind) + base64.RawURLEncoding.EncodeToString(sum[:]))
}
