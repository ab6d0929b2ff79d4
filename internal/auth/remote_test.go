package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A remoteIssuer publishes keys without a network, as synctest requires.
type remoteIssuer struct {
	key     *ecdsa.PrivateKey
	keys    *auth.RemoteKeySet
	v       *auth.Verifier
	fetches atomic.Int32
	failed  atomic.Int32 // calls of OnFailure

	mu    sync.Mutex
	kids  []string      // that key is published under; none means status 500
	delay time.Duration // of a response
}

func newRemoteIssuer(t *testing.T, kids ...string) *remoteIssuer {
	t.Helper()
	i := &remoteIssuer{key: newECKey(elliptic.P256()), kids: kids}
	keys, err := auth.RemoteKeys("https://issuer.test/keys", &http.Client{Transport: i})
	must(err)
	keys.OnFailure = func(error) { i.failed.Add(1) }
	i.keys = keys
	i.v = authtest.NewIssuer(t).VerifierOf(t, auth.Config{Keys: keys})
	return i
}

func (i *remoteIssuer) set(delay time.Duration, kids ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.delay, i.kids = delay, kids
}

func (i *remoteIssuer) RoundTrip(req *http.Request) (*http.Response, error) {
	i.fetches.Add(1)
	i.mu.Lock()
	delay, kids := i.delay, i.kids
	i.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if len(kids) == 0 {
		return &http.Response{StatusCode: 500, Status: "500 Internal Server Error", Body: http.NoBody, Request: req}, nil
	}
	var keys []jwk
	for _, kid := range kids {
		keys = append(keys, ecJWK(&i.key.PublicKey, kid))
	}
	body := io.NopCloser(strings.NewReader(string(keySet(keys...))))
	return &http.Response{StatusCode: 200, Body: body, Request: req}, nil
}

func (i *remoteIssuer) token(kid string) string {
	return es256(i.key, kid, claimsWith(map[string]any{"exp": time.Now().Add(1000 * time.Hour).Unix()}))
}

// check is check with a token with this kid. The response must take exactly took,
// with this number of fetches since the last check.
func (i *remoteIssuer) check(t *testing.T, kid string, want error, took time.Duration, fetches int32) {
	t.Helper()
	start := time.Now()
	check(t, i.v, i.token(kid), want)
	if d := time.Since(start); d != took {
		t.Errorf("took %v, want %v", d, took)
	}
	synctest.Wait() // for a refresh in the background
	if n := i.fetches.Swap(0); n != fetches {
		t.Errorf("%d fetches, want %d", n, fetches)
	}
}

func (i *remoteIssuer) load(t *testing.T) {
	t.Helper()
	if err := i.keys.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.fetches.Store(0)
}

func TestKnownKidNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Hour - 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Nanosecond) // the keys are an hour old
		i.set(900*time.Millisecond, "a", "b")
		i.check(t, "a", nil, 0, 1)
		i.check(t, "a", nil, 0, 0) // one fetch at a time
		time.Sleep(900 * time.Millisecond)
		i.check(t, "b", nil, 0, 0)
		time.Sleep(time.Hour - 900*time.Millisecond - 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "b", nil, 0, 1)
		time.Sleep(time.Second)
	})
}

func TestCachedTokenRefreshesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		token := i.token("a")
		check(t, i.v, token, nil)
		i.set(0, "b")
		time.Sleep(time.Hour)
		check(t, i.v, token, nil) // starts a refresh
		synctest.Wait()
		check(t, i.v, token, auth.ErrInvalidToken) // fetches once more for the missing key
		if n := i.fetches.Load(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
	})
}

// An issuer that restarts with new keys may give them the old kid, or none.
func TestReplacedKey(t *testing.T) {
	for _, kid := range []string{"a", ""} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, kid)
			i.load(t)
			old := i.token(kid)
			check(t, i.v, old, nil)
			i.key = newECKey(elliptic.P256())
			i.set(200*time.Millisecond, kid)
			i.check(t, kid, nil, 200*time.Millisecond, 1)
			i.check(t, kid, nil, 0, 0)
			time.Sleep(30 * time.Second)
			i.set(0, kid)
			check(t, i.v, old, auth.ErrInvalidToken) // even though it is in the cache
			i.check(t, kid, nil, 0, 1)
		})
	}
}

func TestFailedRefreshKeepsTheKeysForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		i.set(0)
		time.Sleep(time.Hour)
		i.check(t, "a", nil, 0, 1)
		time.Sleep(30*time.Second - 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "a", nil, 0, 1)
		time.Sleep(23*time.Hour - 30*time.Second - 1)
		i.check(t, "a", nil, 0, 1)
		time.Sleep(time.Nanosecond) // a day old
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(5 * time.Second)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 1)
		i.set(0, "a")
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(5 * time.Second)
		i.check(t, "a", nil, 0, 1)
		if n := i.failed.Load(); n != 4 {
			t.Errorf("OnFailure was called %d times, want 4", n)
		}
	})
}

// Tokens that the keys don't verify may fetch three times at once, and once more
// every 10 seconds.
func TestSearchBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		i.set(200*time.Millisecond, "a")
		for range 2 {
			for _, kid := range []string{"b", "b", "c"} {
				i.check(t, kid, auth.ErrInvalidToken, 200*time.Millisecond, 1)
			}
			time.Sleep(10*time.Second - 600*time.Millisecond - 1)
			i.check(t, "b", auth.ErrInvalidToken, 0, 0)
			time.Sleep(time.Nanosecond)
			i.check(t, "b", auth.ErrInvalidToken, 200*time.Millisecond, 1)
			i.check(t, "d", auth.ErrInvalidToken, 0, 0)
			time.Sleep(time.Hour - time.Minute) // the budget is full, but not larger
			i.load(t)
		}
		i.set(200*time.Millisecond, "a", "b")
		i.check(t, "b", nil, 200*time.Millisecond, 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Hour)
		i.check(t, "a", nil, 0, 1) // not out of the budget
		time.Sleep(time.Second)
	})
}

// However many made-up kids come, a new key is accepted within 10 seconds.
func TestNewKeyDuringFlood(t *testing.T) {
	for _, interval := range []time.Duration{10 * time.Millisecond, time.Second, 9 * time.Second, 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "a")
			i.load(t)
			begin := time.Now()
			ctx, stop := context.WithCancel(t.Context())
			var flood sync.WaitGroup
			flood.Go(func() {
				junk := es256(i.key, "junk", claimsWith(nil))
				for ; ctx.Err() == nil; time.Sleep(interval) {
					check(t, i.v, junk, auth.ErrInvalidToken)
				}
			})
			time.Sleep(time.Minute)
			for kid := range 10 {
				i.set(0, fmt.Sprint(kid))
				published := time.Now()
				for token := i.token(fmt.Sprint(kid)); ; time.Sleep(100 * time.Millisecond) {
					if _, err := i.v.Authenticate(t.Context(), bearer(token)); err == nil {
						break
					}
				}
				if d := time.Since(published); d > 10*time.Second {
					t.Errorf("made-up kids every %v: a new key is accepted after %v", interval, d)
				}
				time.Sleep(17 * time.Second)
			}
			stop()
			flood.Wait()
			if n, most := i.fetches.Load(), 3+int32(time.Since(begin)/(10*time.Second)); n > most {
				t.Errorf("made-up kids every %v: %d fetches in %v, want at most %d", interval, n, time.Since(begin), most)
			}
		})
	}
}

func TestNoKeysYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		if err := i.keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "500") {
			t.Fatalf("Load: got %v, want the status", err)
		}
		i.fetches.Store(0)
		if _, err := i.v.Authenticate(t.Context(), bearer(i.token("a"))); err == nil || !strings.Contains(err.Error(), "500") {
			t.Errorf("got %v, want the status of the fetch", err)
		}
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(5*time.Second - 1)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 1)
		i.set(0, "a")
		time.Sleep(5*time.Second - 1)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "a", nil, 0, 1)
	})
}

// All tokens that need a fetch wait for the same one; others don't wait.
func TestFetchIsShared(t *testing.T) {
	for _, held := range []bool{true, false} {
		t.Run(fmt.Sprintf("held=%t", held), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newRemoteIssuer(t, "a")
				if held {
					i.load(t)
				}
				i.set(800*time.Millisecond, "a", "b")
				start := time.Now()
				var wg sync.WaitGroup
				for n := range 100 {
					wg.Go(func() {
						time.Sleep(time.Duration(n) * time.Millisecond)
						check(t, i.v, i.token("b"), nil)
						if d := time.Since(start); d != 800*time.Millisecond {
							t.Errorf("took %v, want the time of the fetch", d)
						}
					})
				}
				time.Sleep(100 * time.Millisecond)
				if held {
					i.check(t, "a", nil, 0, 1)
				}
				wg.Wait()
				if n := i.fetches.Load(); !held && n != 1 || held && n != 0 {
					t.Errorf("%d more fetches than expected", n)
				}
			})
		})
	}
}

// A canceled request returns at once; its fetch goes on for the others.
func TestCanceledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(500*time.Millisecond, "a")
		token := i.token("a")
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			start := time.Now()
			caller, err := i.v.Authenticate(ctx, bearer(token))
			checkResult(t, caller, err, context.DeadlineExceeded)
			if d := time.Since(start); d != 100*time.Millisecond {
				t.Errorf("took %v, want 100ms", d)
			}
		})
		wg.Go(func() {
			time.Sleep(time.Millisecond)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := i.keys.Load(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Load: got %v", err)
			}
			caller, err := i.v.Authenticate(ctx, bearer(token))
			checkResult(t, caller, err, context.Canceled)
		})
		time.Sleep(200 * time.Millisecond)
		i.check(t, "a", nil, 300*time.Millisecond, 1)
		wg.Wait()
	})
}

// A request waits a second, but a fetch may take five.
func TestSlowFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(2500*time.Millisecond, "a")
		start := time.Now()
		if err := i.keys.Load(t.Context()); err == nil || time.Since(start) != time.Second {
			t.Errorf("Load: got %v after %v, want an error after a second", err, time.Since(start))
		}
		i.check(t, "a", auth.ErrKeysUnavailable, time.Second, 1)
		i.check(t, "a", nil, 500*time.Millisecond, 0)
		if n := i.failed.Load(); n != 0 {
			t.Errorf("OnFailure was called %d times, want 0", n)
		}

		// An unknown kid may be that of the key that is being fetched.
		i.set(4500*time.Millisecond, "a", "b")
		i.check(t, "b", auth.ErrKeysUnavailable, time.Second, 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(3 * time.Second)
		i.check(t, "b", nil, 500*time.Millisecond, 0)
	})
}

func TestUnknownKidWhileTheIssuerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		i.set(0)
		i.check(t, "b", auth.ErrKeysUnavailable, 0, 1)
		i.check(t, "a", nil, 0, 0)
		i.set(0, "a")
		i.check(t, "b", auth.ErrInvalidToken, 0, 1)
	})
}

func TestUnresponsiveIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(time.Hour, "a")
		i.check(t, "a", auth.ErrKeysUnavailable, time.Second, 1)
		time.Sleep(4*time.Second - 1)
		i.check(t, "a", auth.ErrKeysUnavailable, 1, 0) // the fetch ends
		time.Sleep(5*time.Second - 2)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(2 * time.Nanosecond)
		i.check(t, "a", auth.ErrKeysUnavailable, time.Second, 1)
		time.Sleep(5 * time.Second)
		if n := i.failed.Load(); n != 2 {
			t.Errorf("OnFailure was called %d times, want 2", n)
		}
	})
}

// Neither a frozen program nor a clock set back may postpone a refresh.
func TestRefreshClock(t *testing.T) {
	if s := auth.WallClock().String(); strings.Contains(s, "m=") {
		t.Errorf("%s has a monotonic reading", s)
	}
	now := time.Now()
	for age, want := range map[time.Duration]bool{
		-time.Hour: true, -1: true, 0: false, time.Minute - 1: false, time.Minute: true, time.Hour: true,
	} {
		if got := auth.Elapsed(now.Add(-age), now, time.Minute); got != want {
			t.Errorf("age %v of a minute: got %t, want %t", age, got, want)
		}
	}
}
