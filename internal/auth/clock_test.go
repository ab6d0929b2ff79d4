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

// The time while the program is frozen counts: for the age of keys, even if it is frozen
// during their fetch, for the budget of searches, and for the next attempt.
func TestFrozenProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.check(t, "a", "", atOnce, 0)
		i.set(100*ms, "b")
		i.v.Age(time.Hour)
		i.check(t, "a", invalid, 100*ms, 1)

		i.v.Age(time.Hour)
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "b", "", 100*ms) })
		time.Sleep(50 * ms)
		i.v.Age(time.Hour)
		i.set(0, "c")
		group.Wait()
		i.check(t, "b", invalid, atOnce, 2)
		i.check(t, "c", "", atOnce, 0)

		for range 3 {
			i.check(t, "x", invalid, atOnce, 1)
		}
		i.check(t, "x", invalid, atOnce, 0) // the budget is empty
		i.v.Age(2 * time.Second)
		i.check(t, "x", invalid, atOnce, 1)

		i.set(0)
		i.v.Age(23*time.Hour + 59*time.Minute)
		i.check(t, "c", "", atOnce, 1)
		i.v.Age(30 * time.Second)
		i.check(t, "c", "", atOnce, 1)
		i.v.Age(30 * time.Second)
		i.check(t, "c", unavailable, atOnce, 1)
		i.set(0, "c")
		i.check(t, "c", unavailable, atOnce, 0)
		i.v.Age(auth.RetryAfter)
		i.check(t, "c", "", atOnce, 1)
	})
}

// A clock that was set back postpones nothing: neither searches nor refreshes, and keys
// don't live longer.
func TestClockSetBack(t *testing.T) {
	v := newVerifier(t, auth.Config{KeysURL: keysURL}, &site{}, io.Discard)
	checkLoad(t, v, "status 404")
	if s := v.Wall().String(); strings.Contains(s, "m=") {
		t.Errorf("%s has a monotonic reading, which stops while the program is frozen", s)
	}
	for _, by := range []time.Duration{-time.Minute, -30 * time.Minute, -10 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "a")
			i.v.Age(by)
			i.set(0, "a", "b")
			i.check(t, "b", "", atOnce, 1)
			i.v.Age(by)
			for range 2 {
				i.check(t, "x", invalid, atOnce, 1)
			}
			i.check(t, "x", invalid, atOnce, 0) // the budget is empty
			i.v.Age(by)
			time.Sleep(2 * time.Second)
			i.check(t, "x", invalid, atOnce, 1)

			i.set(100*ms, "c")
			time.Sleep(time.Hour - ms)
			i.check(t, "a", "", atOnce, 0)
			i.v.Age(by)
			time.Sleep(ms)
			var group sync.WaitGroup
			group.Go(func() { i.took(t, "a", invalid, 100*ms) })
			time.Sleep(50 * ms)
			i.v.Age(by) // during a fetch
			group.Wait()
			i.check(t, "c", "", atOnce, 1)

			i.set(0)
			i.v.Age(by)
			time.Sleep(24*time.Hour - 100*ms - ms)
			i.check(t, "c", "", atOnce, 1)
			i.v.Age(by)
			time.Sleep(auth.RetryAfter)
			i.check(t, "c", unavailable, atOnce, 1)
		})
	}
}
