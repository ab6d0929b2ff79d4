package auth

// Cached returns the number of tokens in v's cache.
func (v *Verifier) Cached() int {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	return len(v.cache.tokens)
}

// MaxCached is the maximum of what Cached returns.
const MaxCached = maxCached

// The clock of a RemoteKeySet.
var (
	WallClock = wallClock
	Elapsed   = elapsed
)
