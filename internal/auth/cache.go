package auth

import (
	"crypto/sha256"
	"sync"
)

// A tokenHash identifies a token in the cache, which must not hold credentials.
type tokenHash [sha256.Size]byte

func hashToken(raw string) tokenHash { return sha256.Sum256([]byte(raw)) }

// maxCached bounds each generation of a tokenCache. An entry takes a few hundred
// bytes: the token's text and its other claims are not kept.
const maxCached = 1024

// A tokenCache holds verified tokens, so that each signature is verified once.
// Callers must check expiry and key of what they get from it. The zero
// tokenCache is empty.
//
// It has two generations. When the young one is full it becomes the old one,
// and entries that were not used since the last such change are dropped.
type tokenCache struct {
	mu         sync.Mutex
	young, old map[tokenHash]*verifiedToken
}

// get returns nil if the cache doesn't hold the token.
func (c *tokenCache) get(hash tokenHash) *verifiedToken {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token, ok := c.young[hash]; ok {
		return token
	}
	return c.old[hash]
}

// put adds the token, or marks it as used.
func (c *tokenCache) put(hash tokenHash, token *verifiedToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young[hash] == token {
		return
	}
	if c.young == nil || len(c.young) >= maxCached {
		c.young, c.old = make(map[tokenHash]*verifiedToken), c.young
	}
	c.young[hash] = token
}
