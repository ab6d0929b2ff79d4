package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
)

// A remoteIssuer publishes its key.
type remoteIssuer struct {
	site
	key    *ecdsa.PrivateKey
	v      *auth.Verifier
	log    strings.Builder
	tokens map[string]string // by kid
}

// newRemoteIssuer returns an issuer whose key is loaded, if there are kids.
func newRemoteIssuer(t *testing.T, kids ...string) *remoteIssuer {
	t.Helper()
	i := &remoteIssuer{key: newECKey(elliptic.P256()), tokens: map[string]string{}}
	i.v = newVerifier(t, auth.Config{KeysURL: keysURL, RequireScopes: new(false)}, i, &i.log)
	i.set(0, kids...)
	if kids != nil {
		must(i.v.Load(t.Context()))
		i.fetches()
	}
	return i
}

// set publishes the key under these kids from now on or, without one, responds with
// status 500.
func (i *remoteIssuer) set(delay time.Duration, kids ...string) {
	page := "HTTP/1.1 500 Internal Server Error\r\n\r\n"
	if len(kids) > 0 {
		var keys []jwk
		for _, kid := range kids {
			keys = append(keys, newJWK(i.key.Public(), kid))
		}
		page = string(keySet(keys...))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.delay, i.pages = delay, map[string]string{keysURL: page}
}

// fetches returns the number of requests since the last call.
func (i *remoteIssuer) fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.requests)
	i.requests = nil
	return n
}

// token returns the same token each time.
func (i *remoteIssuer) token(kid string) string {
	if token := i.tokens[kid]; token != "" {
		return token
	}
	i.tokens[kid] = es256(i.key, kid, claimsWith(map[string]any{"exp": time.Now().Add(1000 * time.Hour).Unix()}))
	return i.tokens[kid]
}

// check is check with a token with this kid. The response must take exactly took,
// with this number of fetches since the last check.
func (i *remoteIssuer) check(t *testing.T, kid string, want error, took time.Duration, fetches int) {
	t.Helper()
	synctest.Wait() // for a fetch that ends now
	start := time.Now()
	check(t, i.v, i.token(kid), want)
	if d := time.Since(start); d != took {
		t.Errorf("took %v, want %v", d, took)
	}
	if n := i.fetches(); n != fetches {
		t.Errorf("%d fetches, want %d", n, fetches)
	}
}

const (
	ms     = time.Millisecond
	atOnce = 0
)

// checkWarnings checks how many failures are logged.
func (i *remoteIssuer) checkWarnings(t *testing.T, want int) {
	t.Helper()
	if n := strings.Count(i.log.String(), "token keys not fetched"); n != want {
		t.Errorf("%d failures logged, want %d", n, want)
	}
}

func TestWithdrawnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(900*ms, "b")
		time.Sleep(time.Hour - ms) // the keys are not due for a refresh yet
		i.check(t, "a", nil, atOnce, 0)
		time.Sleep(ms)
		i.check(t, "a", auth.ErrInvalidToken, 1800*ms, 2) // a refresh, and a search for the key
		i.check(t, "b", nil, atOnce, 0)
		time.Sleep(time.Hour - 901*ms) // the age counts from the beginning of the fetch
		i.check(t, "b", nil, atOnce, 0)
		time.Sleep(ms)
		i.check(t, "b", nil, 900*ms, 1)
	})
}

func TestFailingRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(ms) // the issuer is down from now on
		time.Sleep(time.Hour)
		i.check(t, "a", nil, ms, 1)
		time.Sleep(30*time.Second - ms - time.Nanosecond) // before the next attempt
		i.check(t, "a", nil, atOnce, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "a", nil, ms, 1)
		time.Sleep(30 * time.Second)
		i.check(t, "b", auth.ErrInvalidToken, 2*ms, 2) // a refresh and a search
		time.Sleep(23*time.Hour - time.Minute - 3*ms - time.Nanosecond)
		i.check(t, "a", nil, ms, 1)
		time.Sleep(time.Nanosecond) // the keys are a day old
		i.check(t, "a", auth.ErrKeysUnavailable, atOnce, 0)
		time.Sleep(5 * time.Second)
		i.check(t, "a", auth.ErrKeysUnavailable, ms, 1)
		i.set(0, "a") // the issuer is up again
		i.check(t, "a", auth.ErrKeysUnavailable, atOnce, 0)
		time.Sleep(5 * time.Second)
		i.check(t, "a", nil, atOnce, 1)
		i.checkWarnings(t, 6)
	})
}

// A request waits for a slow refresh or search until that has taken a second.
func TestSlowIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(4500*ms, "a", "b")
		i.check(t, "b", auth.ErrInvalidToken, time.Second, 1)
		for range 2 { // which costs no further search
			i.check(t, "c", auth.ErrInvalidToken, atOnce, 0)
		}
		i.check(t, "a", nil, atOnce, 0)
		time.Sleep(3500 * ms) // the search ends
		i.check(t, "b", nil, atOnce, 0)
		i.set(ms, "a", "b")
		for range 3 {
			i.check(t, "c", auth.ErrInvalidToken, ms, 1)
		}

		i.set(4500*ms, "d")
		time.Sleep(time.Hour)
		i.check(t, "a", nil, time.Second, 1)
		i.check(t, "a", nil, atOnce, 0)
		i.check(t, "d", auth.ErrInvalidToken, atOnce, 0)
		time.Sleep(3500 * ms) // the refresh ends
		i.check(t, "d", nil, atOnce, 0)
	})
}

// Anybody can make up a kid, so searches have a budget: three at once, and one more
// every two seconds.
func TestSearchBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(200*ms, "a")
		for _, kid := range []string{"b", "b", "c"} {
			i.check(t, kid, auth.ErrInvalidToken, 200*ms, 1)
		}
		time.Sleep(1390 * ms) // almost two seconds since the first
		i.check(t, "b", auth.ErrInvalidToken, atOnce, 0)
		time.Sleep(20 * ms)
		i.check(t, "b", auth.ErrInvalidToken, 200*ms, 1)
		i.check(t, "a", nil, atOnce, 0)
		time.Sleep(50 * time.Minute) // the budget is full, but not larger
		for range 3 {
			i.check(t, "b", auth.ErrInvalidToken, 200*ms, 1)
		}
		i.check(t, "b", auth.ErrInvalidToken, atOnce, 0)
		i.set(200*ms, "a", "b")
		time.Sleep(2 * time.Second)
		i.check(t, "b", nil, 200*ms, 1)
	})
}

func TestNoKeysYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.check(t, "a", auth.ErrKeysUnavailable, atOnce, 1)
		time.Sleep(5*time.Second - time.Nanosecond) // before the next attempt
		i.check(t, "a", auth.ErrKeysUnavailable, atOnce, 0)
		time.Sleep(time.Nanosecond)
		i.set(time.Hour, "a") // longer than a fetch may take
		i.check(t, "a", auth.ErrKeysUnavailable, 3*time.Second, 1)
		i.check(t, "a", auth.ErrKeysUnavailable, atOnce, 0)
		time.Sleep(2 * time.Second)
		synctest.Wait() // until that fetch has failed
		i.set(2900*ms, "a")
		i.check(t, "a", nil, 2900*ms, 1)
		i.checkWarnings(t, 2)
	})
}

// Searches that fail have the same budget.
func TestFailingSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(0)
		for _, fetches := range []int{1, 1, 1, 0} {
			i.check(t, "b", auth.ErrInvalidToken, atOnce, fetches)
		}
		i.check(t, "a", nil, atOnce, 0)
		i.checkWarnings(t, 3)
	})
}

// An issuer that restarts with new keys may give them the old kid, or none.
func TestReplacedKey(t *testing.T) {
	for _, kid := range []string{"a", ""} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, kid)
			old := i.token(kid)
			check(t, i.v, old, nil)
			check(t, i.v, es256(i.key, "new", claimsWith(map[string]any{"aud": "other"})), auth.ErrInvalidToken) // costs no fetch
			i.key, i.tokens = newECKey(elliptic.P256()), map[string]string{}
			i.set(0, kid)
			i.check(t, kid, nil, 0, 1)
			check(t, i.v, old, auth.ErrInvalidToken) // even though it is in the cache
		})
	}
}

// All tokens that need a fetch wait for the same one.
func TestFetchIsShared(t *testing.T) {
	for _, kids := range [][]string{{"a"}, nil} {
		t.Run(fmt.Sprint(kids), bubble(func(t *testing.T) {
			i := newRemoteIssuer(t, kids...)
			i.set(800*time.Millisecond, "a", "b")
			start, token := time.Now(), i.token("b")
			var group sync.WaitGroup
			for n := range 100 {
				group.Go(func() {
					time.Sleep(time.Duration(n) * time.Millisecond)
					check(t, i.v, token, nil)
					if d := time.Since(start); d != 800*time.Millisecond {
						t.Errorf("took %v, want the time of the fetch", d)
					}
				})
			}
			group.Wait()
			if n := i.fetches(); n != 1 {
				t.Errorf("%d fetches, want 1", n)
			}
		}))
	}
}

// A request or a start whose context ends returns at once; the fetch goes on for
// the others.
func TestCanceledRequest(t *testing.T) {
	const timeout = 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.set(500*time.Millisecond, "a")
		canceled := func(kid string, want error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			start := time.Now()
			caller, err := i.v.Authenticate(ctx, bearer(i.token(kid)))
			checkResult(t, caller, err, want)
			if err := i.v.Load(ctx); !errors.Is(err, auth.ErrKeysUnavailable) {
				t.Errorf("Load: got %v", err)
			}
			if d := time.Since(start); d != timeout {
				t.Errorf("took %v, want %v", d, timeout)
			}
		}
		canceled("a", auth.ErrKeysUnavailable)
		i.check(t, "a", nil, 400*time.Millisecond, 1)
		canceled("b", auth.ErrInvalidToken)
		time.Sleep(time.Hour)
		canceled("a", nil) // with the keys at hand
		time.Sleep(time.Second)
	})
}

// A fetch that was frozen with the program fails no request that comes later, whether
// there are keys or not, and neither its end nor its keys count any more.
func TestFrozenFetch(t *testing.T) {
	for _, kids := range [][]string{{"a"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, kids...)
			i.set(4*time.Second, "old")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_ = i.v.Load(ctx)
			i.v.Age(time.Hour)
			i.set(2500*time.Millisecond, "a")
			if kids == nil {
				i.check(t, "a", nil, 2500*time.Millisecond, 2)
				return
			}
			i.check(t, "a", nil, time.Second, 2)
			time.Sleep(1100 * time.Millisecond) // the frozen fetch ends
			i.check(t, "a", nil, 0, 0)
			i.check(t, "b", auth.ErrInvalidToken, 0, 0)
			time.Sleep(400 * time.Millisecond) // the other one ends
			i.check(t, "a", nil, 0, 0)
		})
	}
}

// A clock that was set back postpones neither a refresh nor its end.
func TestClock(t *testing.T) {
	if s := auth.WallClock().String(); strings.Contains(s, "m=") {
		t.Errorf("%s has a monotonic reading, which stops while the program is frozen", s)
	}
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.v.Age(-time.Hour)
		i.set(2*time.Second, "a")
		i.check(t, "a", nil, time.Second, 1)
		time.Sleep(time.Second)
	})
}
