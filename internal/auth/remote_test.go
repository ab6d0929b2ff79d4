package auth_test

import (
	"context"
	"crypto"
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

const keysURL = "https://issuer.test/keys"

// A remoteIssuer answers fetches without a network, so that the clock of a
// synctest bubble rules. What it does can be changed between fetches.
type remoteIssuer struct {
	key     *ecdsa.PrivateKey
	keys    *auth.RemoteKeySet
	v       *auth.Verifier
	fetches atomic.Int32
	failed  atomic.Int32 // calls of OnFailure

	mu    sync.Mutex
	kids  []string      // published; none means status 500
	delay time.Duration // of an answer
}

func newRemoteIssuer(t *testing.T, kids ...string) *remoteIssuer {
	t.Helper()
	i := &remoteIssuer{key: newECKey(elliptic.P256()), kids: kids}
	keys, err := auth.RemoteKeys(keysURL, &http.Client{Transport: i})
	must(err)
	keys.OnFailure = func(err error) {
		i.failed.Add(1)
		if err == nil {
			t.Error("OnFailure without an error")
		}
	}
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
	if req.URL.String() != keysURL {
		return nil, errors.New("unexpected URL " + req.URL.String())
	}
	resp := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: req, Body: http.NoBody}
	if len(kids) == 0 {
		resp.StatusCode, resp.Status = http.StatusInternalServerError, "500 Internal Server Error"
		return resp, nil
	}
	var keys []jwk
	for _, kid := range kids {
		keys = append(keys, ecJWK(&i.key.PublicKey, kid))
	}
	resp.Body = io.NopCloser(strings.NewReader(string(keySet(keys...))))
	return resp, nil
}

func (i *remoteIssuer) token(kid string) string {
	payload := claimsWith(map[string]any{"exp": time.Now().Add(1000 * time.Hour).Unix()})
	return compact(fmt.Sprintf(`{"alg":"ES256","kid":%q}`, kid), payload, ecSigner(i.key, crypto.SHA256))
}

// check wants what check wants, after the given time to the nanosecond, and
// the given number of fetches since the last check.
func (i *remoteIssuer) check(t *testing.T, kid string, want error, took time.Duration, fetches int32) {
	t.Helper()
	start := time.Now()
	check(t, i.v, i.token(kid), want)
	if d := time.Since(start); d != took {
		t.Errorf("it took %v, want %v", d, took)
	}
	synctest.Wait() // for what a refresh does in the background
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

func TestKeysAreFetchedOnTheFirstToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(300*time.Millisecond, "a")
		i.check(t, "a", nil, 300*time.Millisecond, 1)
		i.check(t, "a", nil, 0, 0)
	})
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
		i.check(t, "b", nil, 0, 0) // the new keys are there
		time.Sleep(time.Hour - 900*time.Millisecond - 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "b", nil, 0, 1)
		time.Sleep(time.Second)
	})
}

// A token that was checked before is subject to the same refreshes as others.
func TestRememberedTokenRefreshesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		token := i.token("a")
		check(t, i.v, token, nil)
		i.set(0, "b")
		time.Sleep(time.Hour)
		check(t, i.v, token, nil) // begins a refresh
		synctest.Wait()
		check(t, i.v, token, auth.ErrInvalidToken) // the key is gone; looks for it once more
		check(t, i.v, token, auth.ErrInvalidToken)
		if n := i.fetches.Load(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
	})
}

// A key that is replaced under its old kid ends the tokens of the old one, the
// remembered ones too.
func TestReplacedKeyEndsRememberedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		token := i.token("a")
		check(t, i.v, token, nil)
		i.key = newECKey(elliptic.P256())
		i.load(t)
		check(t, i.v, token, auth.ErrInvalidToken)
		i.check(t, "a", nil, 0, 0)
	})
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
			t.Errorf("%d failures told, want 4", n)
		}
	})
}

func TestUnknownKidIsLookedForEvery30Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		i.set(200*time.Millisecond, "a")
		i.check(t, "b", auth.ErrInvalidToken, 200*time.Millisecond, 1) // right after the start
		i.check(t, "b", auth.ErrInvalidToken, 0, 0)
		i.check(t, "c", auth.ErrInvalidToken, 0, 0)
		i.set(200*time.Millisecond, "a", "b")
		time.Sleep(30*time.Second - 200*time.Millisecond - 1)
		i.check(t, "b", auth.ErrInvalidToken, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "b", nil, 200*time.Millisecond, 1)
		i.check(t, "a", nil, 0, 0)
		time.Sleep(time.Hour - 200*time.Millisecond)
		i.check(t, "a", nil, 0, 1) // a refresh for age is not such a look
		i.check(t, "d", auth.ErrInvalidToken, 200*time.Millisecond, 0)
		i.check(t, "d", auth.ErrInvalidToken, 200*time.Millisecond, 1)
	})
}

func TestUnknownKidWhileTheIssuerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.load(t)
		i.set(time.Hour, "a", "b")
		i.check(t, "b", auth.ErrInvalidToken, time.Second, 1) // a fetch ends after a second
		i.check(t, "b", auth.ErrInvalidToken, 0, 0)
		i.check(t, "a", nil, 0, 0)
	})
}

func TestNoKeysSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		if err := i.keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "500") {
			t.Fatalf("Load: got %v, want the status", err)
		}
		i.fetches.Store(0)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(5*time.Second - 1)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(time.Nanosecond)
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 1)
		i.set(time.Minute, "a")
		time.Sleep(5 * time.Second)
		i.check(t, "a", auth.ErrKeysUnavailable, time.Second, 1)
		i.set(0, "a")
		i.check(t, "a", auth.ErrKeysUnavailable, 0, 0)
		time.Sleep(4 * time.Second)
		i.check(t, "a", nil, 0, 1)
	})
}

// Whoever needs keys that are being fetched waits for that fetch; whoever
// doesn't goes on.
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
							t.Errorf("an answer after %v, want one with the fetch", d)
						}
					})
				}
				time.Sleep(100 * time.Millisecond)
				if held {
					i.check(t, "a", nil, 0, 1)
				}
				wg.Wait()
				if n := i.fetches.Load(); !held && n != 1 || held && n != 0 {
					t.Errorf("%d fetches more than one", n)
				}
			})
		})
	}
}

// Who goes away gets its own error at once; the fetch serves the others.
func TestRequesterGoesAway(t *testing.T) {
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
				t.Errorf("the error came after %v", d)
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

func TestLoadJoinsAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(500*time.Millisecond, "a")
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if err := i.keys.Load(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		i.check(t, "a", nil, 500*time.Millisecond, 1)
		wg.Wait()
		i.set(time.Hour, "a")
		start := time.Now()
		if err := i.keys.Load(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v, want a time-out after a second", err, time.Since(start))
		}
	})
}

// Neither a frozen program nor a clock that was set back puts off a refresh.
func TestRefreshClock(t *testing.T) {
	if s := auth.WallClock().String(); strings.Contains(s, "m=") {
		t.Errorf("%s has a monotonic reading, which stands still while the program is frozen", s)
	}
	now := time.Now()
	for age, want := range map[time.Duration]bool{
		-time.Hour: true, -1: true, 0: false, time.Minute - 1: false, time.Minute: true, time.Hour: true,
	} {
		if got := auth.Elapsed(now.Add(-age), now, time.Minute); got != want {
			t.Errorf("after %v of a minute: elapsed is %t, want %t", age, got, want)
		}
	}
	if !auth.Elapsed(time.Time{}, now, time.Minute) {
		t.Error("what never happened is not long ago")
	}
}
