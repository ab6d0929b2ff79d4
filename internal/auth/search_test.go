package auth_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// If the issuer hangs, tokens that the keys don't verify wait for 3 s. After that they don't
// wait for a while. Other tokens never wait.
func TestHangingSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		for range 3 {
			i.set(time.Hour, "a", "b")
			var group sync.WaitGroup
			group.Go(func() { i.took(t, "b", invalid, 3*time.Second) })
			time.Sleep(10 * ms)
			for range 10 {
				group.Go(func() { i.took(t, "b", invalid, 2990*ms) })
			}
			i.took(t, "a", "", atOnce)
			group.Wait()
			if n := i.fetches(); n != 1 {
				t.Errorf("%d fetches, want 1", n)
			}
			i.check(t, "b", "newer keys are unknown: GET https://keys.test/k: context deadline exceeded", atOnce, 0)
			time.Sleep(5*time.Second - ms)
			i.check(t, "b", invalid, atOnce, 0)
			time.Sleep(ms)
		}
		i.set(200*ms, "a", "b")
		i.check(t, "b", "", 200*ms, 1)
	})
}

// After a failed search or refresh, no request searches for a while.
func TestSearchPausesAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(200 * ms)
		for _, age := range []time.Duration{0, time.Hour} {
			time.Sleep(age)
			const want = `no key for EdDSA has the kid "b", and newer keys are unknown: `
			i.check(t, "b", want, 200*ms, 1)
			i.check(t, "b", want, atOnce, 0)
			i.check(t, "a", "", atOnce, 0)
			time.Sleep(5*time.Second - ms)
			i.check(t, "b", want, atOnce, 0)
			time.Sleep(ms)
			i.check(t, "b", want, 200*ms, 1)
		}
		time.Sleep(5 * time.Second)
		i.set(200*ms, "a", "b")
		i.check(t, "b", "", 200*ms, 1)
		i.check(t, "c", `no key for EdDSA has the kid "c"`, 200*ms, 1) // the pause is over
	})
}

// An issuer that restarts with new keys may give them the old kid, or none.
func TestReplacedKey(t *testing.T) {
	for _, kid := range []string{"a", ""} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, kid)
			old := i.token(kid)
			check(t, i.v, old, "")
			check(t, i.v, compact(`{"alg":"ES256"}`, claimsAnd(`"typ":"ID"`), nil, nil), invalid) // costs no fetch
			i.key = newEdKey()
			i.set(0, kid)
			i.check(t, kid, "", atOnce, 1)
			check(t, i.v, old, invalid) // even though it is in the cache
		})
	}
}

// A search doesn't trust a fetch that began before its request arrived: the issuer may
// have published the key in between.
func TestKeyPublishedDuringFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(500*ms, "a")
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "x", invalid, 500*ms) })
		time.Sleep(100 * ms)
		i.set(900*ms, "a", "b")
		for range 10 {
			group.Go(func() { i.took(t, "b", "", 1300*ms) })
		}
		group.Go(func() { i.took(t, "y", invalid, 1300*ms) }) // trusts the second one
		group.Wait()
		if n := i.fetches(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
	})
}

// Nor does a search trust such a fetch if it brings a new key, but not the one that signed
// the token.
func TestKeyPublishedDuringFetchOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(500*ms, "a", "c")
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "x", invalid, 500*ms) })
		time.Sleep(100 * ms)
		i.set(300*ms, "a", "c", "b")
		group.Go(func() { i.took(t, "b", "", 700*ms) })
		group.Wait()
	})
}

// A request waits at most 3 s for other requests' fetches, even if there are several.
func TestWaitForSeveralFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(500*ms, "a")
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "x", invalid, 500*ms) })
		time.Sleep(100 * ms)
		i.set(time.Hour, "a", "b")
		group.Go(func() { i.took(t, "b", invalid, 3400*ms) }) // fetches after 400 ms
		time.Sleep(ms)
		group.Go(func() { i.took(t, "b", "still being fetched", 3*time.Second) })
		group.Wait()
	})
}

// No request fails while an issuer replaces its key properly: it publishes the new key
// before it signs with it, and the old key until the old tokens have expired.
func TestRotation(t *testing.T) {
	for _, delay := range []time.Duration{0, 50 * ms, 900 * ms} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "0")
			start := time.Now()
			var group sync.WaitGroup
			for client := range 32 {
				group.Go(func() {
					for n := range 200 {
						kid := time.Since(start) / (10 * time.Second) // of the key that signs
						if n%10 == 0 {
							kid = max(kid-1, 0)
						}
						check(t, i.v, i.token(fmt.Sprint(int(kid))), "")
						time.Sleep(time.Duration(100+client) * ms)
					}
				})
			}
			for n := range 3 {
				i.set(delay, fmt.Sprint(max(n-1, 0)), fmt.Sprint(n), fmt.Sprint(n+1))
				time.Sleep(10 * time.Second)
			}
			group.Wait()
			if n := i.fetches(); n > 3 {
				t.Errorf("%d fetches for at most 3 keys", n)
			}
		})
	}
}
