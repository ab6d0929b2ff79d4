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

// Age moves what has happened to v's remote keys into the past, as if the program had
// been frozen, or with a negative duration into the future, as if the clock had been
// set back.
func (v *Verifier) Age(by time.Duration) {
	k := v.keys
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range []*time.Time{&k.fetched, &k.last.began, &k.searched} {
		*t = t.Add(-by)
	}
}

// WallClock is the clock that ages are measured with.
var WallClock = wallClock
