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

// Age makes the wall clock advance, as if the program had been frozen, or with a
// negative duration go back, as if it had been set.
func (v *Verifier) Age(by time.Duration) {
	v.keys.mu.Lock()
	defer v.keys.mu.Unlock()
	v.keys.clock.wall = v.keys.clock.wall.Add(-by)
}

// Wall returns the last time that v read from the wall clock.
func (v *Verifier) Wall() time.Time { return v.keys.clock.wall }
