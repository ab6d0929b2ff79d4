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
	start := time.Now()
	check(t, i.v, i.token(kid), want)
	if d := time.Since(start); d != took {
		t.Errorf("took %v, want %v", d, took)
	}
	if n := i.fetches(); n != fetches {
		t.Errorf("%d fetches, want %d", n, fetches)
	}
}

// A step is the arrival of a token.
type step struct {
	wait    time.Duration // since the response to the last token
	issuer  *published    // from then on; nil means no change
	kid     string        // of the token
	want    error
	took    time.Duration
	fetches int // since the last step
}

type published struct {
	delay time.Duration
	kids  []string
}

func keys(delay time.Duration, kids ...string) *published { return &published{delay, kids} }

func TestSchedules(t *testing.T) {
	const ms = time.Millisecond
	invalid, unavailable := auth.ErrInvalidToken, auth.ErrKeysUnavailable
	for _, test := range []struct {
		name   string
		kids   []string // that are loaded, if any
		failed int      // fetches that are logged, at most one a second
		steps  []step
	}{
		{"a refresh finds that a key was withdrawn", []string{"a"}, 0, []step{
			{time.Hour - ms, keys(900*ms, "b"), "a", nil, 0, 0},
			{ms, nil, "a", invalid, 900 * ms, 1}, // which needs no search
			{0, nil, "b", nil, 0, 0},
			{time.Hour - 900*ms - ms, nil, "b", nil, 0, 0},
			{ms, nil, "b", nil, 900 * ms, 1},
		}},
		{"a failed refresh keeps the keys for a day", []string{"a"}, 5, []step{
			{time.Hour, keys(ms), "a", nil, ms, 1},
			{30*time.Second - 1, nil, "a", nil, 0, 0},
			{1, nil, "a", nil, ms, 1},
			{30 * time.Second, nil, "b", invalid, ms, 1}, // which is not fetched for twice
			{23*time.Hour - time.Minute - 4*ms - 1, nil, "a", nil, ms, 1},
			{1, nil, "a", unavailable, 0, 0}, // a day old
			{5 * time.Second, nil, "a", unavailable, ms, 1},
			{0, keys(0, "a"), "a", unavailable, 0, 0},
			{5 * time.Second, nil, "a", nil, 0, 1},
		}},
		{"a slow refresh is waited for until it has taken a second", []string{"a"}, 0, []step{
			{time.Hour, keys(4500*ms, "b"), "a", nil, time.Second, 1},
			{0, nil, "a", nil, 0, 0},
			{0, nil, "b", invalid, 0, 0},
			{3500 * ms, nil, "b", nil, 0, 0},
		}},
		{"three searches at once, then one every two seconds", []string{"a"}, 0, []step{
			{0, keys(200*ms, "a"), "b", invalid, 200 * ms, 1},
			{0, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "c", invalid, 200 * ms, 1},
			{1390 * ms, nil, "b", invalid, 0, 0},
			{20 * ms, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "a", nil, 0, 0},
			{50 * time.Minute, nil, "b", invalid, 200 * ms, 1}, // the budget is full, but not larger
			{0, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "b", invalid, 0, 0},
			{2 * time.Second, keys(200*ms, "a", "b"), "b", nil, 200 * ms, 1},
		}},
		{"a slow search is waited for until it has taken a second", []string{"a"}, 0, []step{
			{0, keys(4500*ms, "a", "b"), "b", invalid, time.Second, 1},
			{0, nil, "c", invalid, 0, 0},
			{0, nil, "c", invalid, 0, 0},
			{0, nil, "a", nil, 0, 0},
			{3500 * ms, keys(ms, "a", "b"), "b", nil, 0, 0},
			{0, nil, "c", invalid, ms, 1}, // three searches are left
			{0, nil, "c", invalid, ms, 1},
			{0, nil, "c", invalid, ms, 1},
		}},
		{"an unknown kid while the issuer is down", []string{"a"}, 1, []step{
			{0, keys(0), "b", invalid, 0, 1},
			{0, nil, "b", invalid, 0, 1},
			{0, nil, "b", invalid, 0, 1},
			{0, nil, "b", invalid, 0, 0},
			{0, nil, "a", nil, 0, 0},
		}},
		{"no keys yet", nil, 2, []step{
			{0, nil, "a", unavailable, 0, 1},
			{0, nil, "a", unavailable, 0, 0},
			{5*time.Second - 1, nil, "a", unavailable, 0, 0},
			{1, keys(time.Hour), "a", unavailable, 3 * time.Second, 1},
			{0, nil, "a", unavailable, 0, 0}, // the fetch has taken longer
			{2 * time.Second, keys(2900*ms, "a"), "a", nil, 2900 * ms, 1},
		}},
	} {
		t.Run(test.name, bubble(func(t *testing.T) {
			i := newRemoteIssuer(t, test.kids...)
			for n, s := range test.steps {
				time.Sleep(s.wait)
				synctest.Wait()
				if s.issuer != nil {
					i.set(s.issuer.delay, s.issuer.kids...)
				}
				t.Logf("step %d", n+1)
				i.check(t, s.kid, s.want, s.took, s.fetches)
			}
			if n := strings.Count(i.log.String(), "token keys not fetched"); n != test.failed {
				t.Errorf("%d failures logged, want %d", n, test.failed)
			}
		}))
	}
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
