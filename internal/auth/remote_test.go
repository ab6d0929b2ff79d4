package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
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

// A step is the arrival of a token.
type step struct {
	wait    time.Duration // since the response to the last token
	issuer  *published    // from then on; nil means no change
	kid     string        // of the token
	want    error
	took    time.Duration
	fetches int32 // since the last step
}

// published is what the issuer answers from then on.
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
		kids   []string // that Load fetches, if any
		failed int32    // calls of OnFailure
		steps  []step
	}{
		{"a known kid never waits", []string{"a"}, 0, []step{
			{0, nil, "a", nil, 0, 0},
			{time.Hour - 1, nil, "a", nil, 0, 0},
			{1, keys(900*ms, "a", "b"), "a", nil, 0, 1}, // the keys are an hour old
			{0, nil, "a", nil, 0, 0},                    // one fetch at a time
			{900 * ms, nil, "b", nil, 0, 0},
			{time.Hour - 900*ms - 1, nil, "a", nil, 0, 0},
			{1, nil, "b", nil, 0, 1},
		}},
		{"a failed refresh keeps the keys for a day", []string{"a"}, 4, []step{
			{time.Hour, keys(0), "a", nil, 0, 1},
			{30*time.Second - 1, nil, "a", nil, 0, 0},
			{1, nil, "a", nil, 0, 1},
			{23*time.Hour - 30*time.Second - 1, nil, "a", nil, 0, 1},
			{1, nil, "a", unavailable, 0, 0}, // a day old
			{5 * time.Second, nil, "a", unavailable, 0, 1},
			{0, keys(0, "a"), "a", unavailable, 0, 0},
			{5 * time.Second, nil, "a", nil, 0, 1},
		}},
		// Tokens that the keys don't verify may fetch three times at once, and once
		// more every 10 seconds.
		{"search budget", []string{"a"}, 0, []step{
			{0, keys(200*ms, "a"), "b", invalid, 200 * ms, 1},
			{0, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "c", invalid, 200 * ms, 1},
			{10*time.Second - 600*ms - 1, nil, "b", invalid, 0, 0},
			{1, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "d", invalid, 0, 0},
			{50 * time.Minute, nil, "b", invalid, 200 * ms, 1}, // the budget is full, but not larger
			{0, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "b", invalid, 200 * ms, 1},
			{0, nil, "b", invalid, 0, 0},
			{10 * time.Second, keys(200*ms, "a", "b"), "b", nil, 200 * ms, 1},
			{time.Hour, nil, "a", nil, 0, 1}, // not out of the budget
		}},
		{"no keys yet", nil, 3, []step{
			{0, nil, "a", unavailable, 0, 1},
			{0, nil, "a", unavailable, 0, 0},
			{5*time.Second - 1, nil, "a", unavailable, 0, 0},
			{1, nil, "a", unavailable, 0, 1},
			{5 * time.Second, nil, "a", unavailable, 0, 1},
			{5*time.Second - 1, keys(0, "a"), "a", unavailable, 0, 0},
			{1, nil, "a", nil, 0, 1},
		}},
		// A request waits a second, but a fetch may take five.
		{"slow fetch", nil, 0, []step{
			{0, keys(2500*ms, "a"), "a", unavailable, time.Second, 1},
			{1000 * ms, nil, "a", nil, 500 * ms, 0},
			// An unknown kid may be that of the key that is being fetched.
			{0, keys(4500*ms, "a", "b"), "b", unavailable, time.Second, 1},
			{0, nil, "a", nil, 0, 0},
			{3 * time.Second, nil, "b", nil, 500 * ms, 0},
		}},
		{"unknown kid while the issuer is down", []string{"a"}, 1, []step{
			{0, keys(0), "b", unavailable, 0, 1},
			{0, nil, "a", nil, 0, 0},
			{0, keys(0, "a"), "b", invalid, 0, 1},
		}},
		{"unresponsive issuer", nil, 2, []step{
			{0, keys(time.Hour, "a"), "a", unavailable, time.Second, 1},
			{4*time.Second - 1, nil, "a", unavailable, 1, 0}, // the fetch ends
			{5*time.Second - 2, nil, "a", unavailable, 0, 0},
			{2, nil, "a", unavailable, time.Second, 1},
		}},
	} {
		t.Run(test.name, bubble(func(t *testing.T) {
			i := newRemoteIssuer(t, test.kids...)
			if test.kids != nil {
				i.load(t)
			}
			for n, s := range test.steps {
				time.Sleep(s.wait)
				if s.issuer != nil {
					i.set(s.issuer.delay, s.issuer.kids...)
				}
				t.Logf("step %d", n+1)
				i.check(t, s.kid, s.want, s.took, s.fetches)
			}
			time.Sleep(5 * time.Second) // for a fetch in the background
			if n := i.failed.Load(); n != test.failed {
				t.Errorf("OnFailure was called %d times, want %d", n, test.failed)
			}
		}))
	}
}

// Load waits a second for a fetch, and reports one that failed. Requests report
// the same error.
func TestLoadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		if err := i.keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "500") {
			t.Errorf("Load: got %v, want the status", err)
		}
		if _, err := i.v.Authenticate(t.Context(), bearer(i.token("a"))); err == nil || !strings.Contains(err.Error(), "500") {
			t.Errorf("got %v, want the status of the fetch", err)
		}
		i.set(2500*time.Millisecond, "a")
		start := time.Now()
		if err := i.keys.Load(t.Context()); err == nil || time.Since(start) != time.Second {
			t.Errorf("Load: got %v after %v, want an error after a second", err, time.Since(start))
		}
		time.Sleep(2 * time.Second)
	})
}
