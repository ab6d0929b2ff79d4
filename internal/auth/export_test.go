package auth

// Remembered returns the number of tokens that v remembers.
func (v *Verifier) Remembered() int {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	return len(v.cache.young) + len(v.cache.old)
}

// MaxRemembered bounds what Remembered returns.
const MaxRemembered = 2 * maxCached

// The clock of the refreshes.
var (
	WallClock = wallClock
	Elapsed   = elapsed
)
