package auth

import (
	"net/http"
	"sync/atomic"
	"time"
)

// SetNetwork makes v fetch keys through a network of the test's own.
func (v *Verifier) SetNetwork(network http.RoundTripper) { v.issuerKeys.client.Transport = network }

// Transport returns what v fetches keys through.
func (v *Verifier) Transport() *http.Transport {
	return v.issuerKeys.client.Transport.(*http.Transport)
}

// Now returns the time by v's wall clock.
func (v *Verifier) Now() time.Time { return v.issuerKeys.wall() }

// A Clock is the wall clock, shifted by Advance.
type Clock struct{ by atomic.Int64 }

// Advance sets the clock forward or, with a negative duration, back.
func (c *Clock) Advance(by time.Duration) { c.by.Add(int64(by)) }

// SetClock makes v use a clock.
func (v *Verifier) SetClock(c *Clock) {
	v.issuerKeys.wall = func() time.Time { return wallClock().Add(time.Duration(c.by.Load())) }
}
