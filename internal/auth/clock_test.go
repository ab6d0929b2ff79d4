package auth_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
)

// The time during which the program is frozen counts for the age of the keys, even if it
// is frozen while they are fetched. It also counts for the budget of searches and for the
// pause before the next attempt.
func TestFrozenProgram(t *testing.T) {
	v := newVerifier(t, auth.Config{KeysURL: keysURL}, &site{}, io.Discard)
	if s := v.Now().String(); strings.Contains(s, "m=") {
		t.Errorf("%s has a monotonic reading, which stops while the program is frozen", s)
	}
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.check(t, "a", "", atOnce, 0)
		i.set(100*ms, "b")
		i.clock.Advance(time.Hour)
		i.check(t, "a", invalid, 100*ms, 1)

		i.clock.Advance(time.Hour)
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "b", "", 100*ms) })
		time.Sleep(50 * ms)
		i.clock.Advance(time.Hour)
		i.set(0, "c")
		group.Wait()
		i.check(t, "b", invalid, atOnce, 2)
		i.check(t, "c", "", atOnce, 0)

		for range 3 {
			i.check(t, "x", invalid, atOnce, 1)
		}
		i.check(t, "x", invalid, atOnce, 0) // the budget is empty
		i.clock.Advance(2 * time.Second)
		i.check(t, "x", invalid, atOnce, 1)

		i.set(0)
		i.clock.Advance(23*time.Hour + 59*time.Minute)
		i.check(t, "c", "", atOnce, 1)
		i.clock.Advance(30 * time.Second)
		i.check(t, "c", "", atOnce, 1)
		i.clock.Advance(30 * time.Second)
		i.check(t, "c", unavailable, atOnce, 1)
		i.set(0, "c")
		i.check(t, "c", unavailable, atOnce, 0)
		i.clock.Advance(auth.RetryAfter)
		i.check(t, "c", "", atOnce, 1)
	})
}

// Keys that expire during their own fetch, while the machine is asleep, are not used.
func TestFrozenForADayDuringFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.set(100*ms, "a")
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "a", unavailable+": outdated", 100*ms) })
		time.Sleep(50 * ms)
		i.clock.Advance(24 * time.Hour)
		group.Wait()
		i.check(t, "a", "", 100*ms, 2)
	})
}

// If the clock is set back by an hour, new keys count as an hour old. So a withdrawn key
// doesn't remain valid until the clock catches up.
func TestClockSetBack(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, 10 * time.Hour, 23 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "a")
			i.check(t, "a", "", atOnce, 0)
			i.set(0, "b")
			i.clock.Advance(-by)
			i.check(t, "a", invalid, atOnce, 1)
			i.check(t, "b", "", atOnce, 0)
		})
	}
	synctest.Test(t, func(t *testing.T) { // during a fetch
		i := newRemoteIssuer(t)
		i.set(100*ms, "a")
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "a", "", 100*ms) })
		time.Sleep(50 * ms)
		i.clock.Advance(-10 * time.Hour)
		group.Wait()
		i.set(0, "b")
		i.check(t, "a", invalid, atOnce, 2)
		i.check(t, "b", "", atOnce, 0)
	})
}
