package auth_test

import (
	"context"
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

// All tokens that need a fetch wait for the same one; others don't wait.
func TestFetchIsShared(t *testing.T) {
	for _, held := range []bool{true, false} {
		t.Run(fmt.Sprintf("held=%t", held), bubble(func(t *testing.T) {
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
		}))
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
