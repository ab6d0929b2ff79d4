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

// Age makes v's remote keys older, and the last fetch of them, as if the program had
// been frozen.
func (v *Verifier) Age(by time.Duration) {
	k := v.keys
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetched, k.began = k.fetched.Add(-by), k.began.Add(-by)
}

// WallClock is the clock that ages are measured with.
var WallClock = wallClock
