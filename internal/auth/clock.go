package auth

import "time"

// A clock measures how old things are. It follows two clocks, and moves as far as the
// faster one: the monotonic clock may stop while the program is frozen, and the wall
// clock may be set back. It never goes back.
type clock struct {
	time            time.Time // of this clock, at the last call of now
	monotonic, wall time.Time // of the others
}

func newClock() clock {
	now := time.Now()
	return clock{time: now.Round(0), monotonic: now, wall: now.Round(0)}
}

func (c *clock) now() time.Time {
	monotonic := time.Now()
	wall := monotonic.Round(0) // without the monotonic reading
	c.time = c.time.Add(max(monotonic.Sub(c.monotonic), wall.Sub(c.wall)))
	c.monotonic, c.wall = monotonic, wall
	return c.time
}
