package auth_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
)

func TestWithdrawnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(900*ms, "b")
		time.Sleep(time.Hour - ms) // the keys are not due for a refresh yet
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(ms)
		i.check(t, "a", invalid, time.Second, 2) // a refresh, and a search for the key
		i.check(t, "b", "", atOnce, 0)
		time.Sleep(time.Hour - 101*ms) // the age counts from the beginning of the search
		i.check(t, "b", "", atOnce, 0)
		time.Sleep(ms)
		i.check(t, "b", "", 900*ms, 1)
	})
}

func TestFailingRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(ms) // the issuer is down from now on
		time.Sleep(time.Hour)
		i.check(t, "a", "", ms, 1)
		time.Sleep(29 * time.Second) // before the next attempt
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(time.Second)
		i.check(t, "a", "", ms, 1)
		time.Sleep(23*time.Hour - time.Minute)
		i.check(t, "a", "", ms, 1)
		time.Sleep(30*time.Second - 4*ms)
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(ms) // the keys are a day old
		i.check(t, "a", unavailable, ms, 1)
	})
}

// A request waits for a slow refresh or search until that has taken a second.
func TestSlowIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(4500*ms, "a", "b")
		i.check(t, "b", invalid, time.Second, 1)
		for range 2 { // which costs no further search
			i.check(t, "c", invalid, atOnce, 0)
		}
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(3500 * ms) // the search ends
		i.check(t, "b", "", atOnce, 0)
		i.set(ms, "a", "b")
		for range 3 {
			i.check(t, "c", invalid, ms, 1)
		}

		i.set(4500*ms, "d")
		time.Sleep(time.Hour)
		i.check(t, "a", "", time.Second, 1)
		i.check(t, "a", "", atOnce, 0)
		i.check(t, "d", invalid, atOnce, 0)
		time.Sleep(3500 * ms) // the refresh ends
		i.check(t, "d", "", atOnce, 0)
	})
}

// Anybody can make up a kid, so searches have a budget: three at once, and one more
// every two seconds. It makes no difference whether they fail.
func TestSearchBudget(t *testing.T) {
	for _, kids := range [][]string{{"a"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "a")
			i.set(200*ms, kids...)
			time.Sleep(ms) // after the first fetch
			want := `no key for EdDSA has the kid "b"`
			if kids == nil {
				want += ", and newer keys are unknown: "
			}
			for range 3 {
				i.check(t, "b", want, 200*ms, 1)
			}
			time.Sleep(1390 * ms) // almost two seconds since the first
			i.check(t, "b", invalid, atOnce, 0)
			time.Sleep(20 * ms)
			i.check(t, "b", invalid, 200*ms, 1)
			i.check(t, "a", "", atOnce, 0)
			time.Sleep(50 * time.Minute) // the budget is full, but not larger
			for range 3 {
				i.check(t, "b", invalid, 200*ms, 1)
			}
			i.check(t, "b", invalid, atOnce, 0)
			i.set(200*ms, "a", "b")
			time.Sleep(2 * time.Second)
			i.check(t, "b", "", 200*ms, 1)
		})
	}
}

func TestNoKeysYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.check(t, "a", unavailable, atOnce, 1)
		time.Sleep(5*time.Second - ms) // before the next attempt
		i.check(t, "a", unavailable, atOnce, 0)
		time.Sleep(ms)
		i.set(time.Hour, "a") // longer than a fetch may take
		i.check(t, "a", unavailable+": still being fetched", 3*time.Second, 1)
		i.check(t, "a", unavailable, atOnce, 0)
		time.Sleep(2 * time.Second)
		synctest.Wait() // until that fetch has failed
		i.set(2900*ms, "a")
		i.check(t, "a", "", 2900*ms, 1)
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

// All tokens that need a fetch wait for the same one.
func TestFetchIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(800*ms, "a", "b")
		start := time.Now()
		var group sync.WaitGroup
		for n := range 100 {
			group.Go(func() {
				time.Sleep(time.Duration(n) * ms)
				check(t, i.v, i.token("b"), "")
				if d := time.Since(start); d != 800*ms {
					t.Errorf("took %v, want the time of the fetch", d)
				}
			})
		}
		group.Wait()
		if n := i.fetches(); n != 1 {
			t.Errorf("%d fetches, want 1", n)
		}
	})
}

// A request or a start whose context ends returns at once; the fetch goes on for
// the others.
func TestCanceledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.set(500*ms, "a")
		canceled := func(kid, want string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			defer cancel()
			start := time.Now()
			caller, err := i.v.Authenticate(ctx, bearer(i.token(kid)))
			checkResult(t, caller, err, want)
			if err := i.v.Load(ctx); !errors.Is(err, auth.ErrKeysUnavailable) {
				t.Errorf("Load: got %v", err)
			}
			if d := time.Since(start); d != 100*ms {
				t.Errorf("took %v, want the time until the context ends", d)
			}
		}
		canceled("a", unavailable)
		i.check(t, "a", "", 400*ms, 1)
		canceled("b", invalid) // during its search
		time.Sleep(time.Hour)
		canceled("a", "") // with the keys at hand
		time.Sleep(time.Second)
	})
}

// Configured keys are all there are: a token that they don't verify causes no fetch.
func TestConfiguredKeysAreNotFetched(t *testing.T) {
	i := newRemoteIssuer(t)
	keys, err := auth.ParseKeySet(keySet(newJWK(newEdKey().Public(), "b")))
	must(err)
	i.v = newVerifier(t, auth.Config{Keys: keys, KeysURL: keysURL}, i, io.Discard)
	i.set(0, "a")
	check(t, i.v, i.token("a"), `no key for EdDSA has the kid "a"`)
	if n := i.fetches(); n != 0 {
		t.Errorf("%d fetches, want none", n)
	}
}
