package auth

import (
	"crypto/sha256"
	"sync"
)

// A tokenHash identifies a token in the cache, which must not hold credentials.
type tokenHash [sha256.Size]byte

// maxCached bounds a tokenCache. An entry takes a few hundred bytes: the token's
// text and its other claims are not kept.
const maxCached = 2048

// A tokenCache holds verified tokens, so that each signature is verified once. If
// it is full, another token empties it. Callers must check expiry and key of what
// they get from it. The zero tokenCache is empty.
type tokenCache struct {
	mu     sync.Mutex
	tokens map[tokenHash]*verifiedToken
}

// get returns nil if the cache doesn't hold the token.
func (c *tokenCache) get(hash tokenHash) *verifiedToken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens[hash]
}

func (c *tokenCache) put(hash tokenHash, token *verifiedToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil || len(c.tokens) >= maxCached && c.tokens[hash] == nil {
		c.tokens = make(map[tokenHash]*verifiedToken)
	}
	c.tokens[hash] = token
}
