package auth

import (
	"crypto/sha256"
	"sync"
)

// A tokenSum stands for a token where the token itself must not be kept.
type tokenSum [sha256.Size]byte

func sumToken(token string) tokenSum { return sha256.Sum256([]byte(token)) }

// maxCached bounds each half of a tokenCache. A grant takes some hundred bytes,
// and never much more: a token keeps neither its text nor its other claims.
const maxCached = 1024

// A tokenCache remembers what verified tokens say, so that the signature of
// each is checked once. It knows nothing of time or of keys that are replaced:
// who takes a grant out checks both. The zero tokenCache is empty.
//
// It has two halves. When the young one is full it becomes the old one, whose
// grants are forgotten, except those that were used meanwhile.
type tokenCache struct {
	mu         sync.Mutex
	young, old map[tokenSum]*grant
}

func (c *tokenCache) get(sum tokenSum) (*grant, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.young[sum]; ok {
		return g, true
	}
	g, ok := c.old[sum]
	return g, ok
}

// put keeps g, as the one used last.
func (c *tokenCache) put(sum tokenSum, g *grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young[sum] == g {
		return
	}
	if c.young == nil || len(c.young) >= maxCached {
		c.young, c.old = make(map[tokenSum]*grant), c.young
	}
	c.young[sum] = g
}
