package auth

import "time"

// Cached returns the number of tokens in v's cache.
func (v *Verifier) Cached() int {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	return len(v.cache.tokens)
}

// MaxCached is the maximum of what Cached returns.
const MaxCached = maxCached

// Age makes v's remote keys older, and the last fetch of them.
func (v *Verifier) Age(by time.Duration) {
	r := v.keys
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetched, r.ended = r.fetched.Add(-by), r.ended.Add(-by)
}

// WallClock is the clock that ages are measured with.
var WallClock = wallClock
