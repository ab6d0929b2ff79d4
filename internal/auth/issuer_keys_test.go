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

// If the issuer hangs, only the request that refreshes the keys waits for it.
func TestHangingRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(time.Hour, "a")
		time.Sleep(time.Hour)
		var group sync.WaitGroup
		group.Go(func() { i.took(t, "a", "", 3*time.Second) })
		for range 10 {
			time.Sleep(299 * ms)
			i.took(t, "a", "", atOnce)
		}
		group.Wait()
		i.check(t, "a", "", atOnce, 1)
	})
}

func TestNoKeysYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.check(t, "a", unavailable, atOnce, 1)
		time.Sleep(auth.RetryAfter - ms) // before the next attempt
		i.check(t, "a", unavailable+": GET https://keys.test/k: status 404", atOnce, 0)
		time.Sleep(ms)
		for _, test := range []struct {
			delay, took time.Duration
			want        string
		}{{time.Hour, 3 * time.Second, unavailable}, {2900 * ms, 2900 * ms, ""}} {
			i.set(test.delay, "a")
			var group sync.WaitGroup
			for n := range 10 { // all wait
				group.Go(func() {
					time.Sleep(time.Duration(n) * ms)
					i.took(t, "a", test.want, test.took-time.Duration(n)*ms)
				})
			}
			group.Wait()
			if n := i.fetches(); n != 1 {
				t.Errorf("%d fetches, want 1", n)
			}
			i.check(t, "a", test.want, atOnce, 0)
			time.Sleep(auth.RetryAfter)
		}
	})
}

// When a client disconnects, its request still finishes a fetch, since others rely on it.
// A request that only waits for another's fetch ends at once.
func TestDisconnectedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.set(500*ms, "a")
		send := func(kid, want string, took time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			defer cancel()
			start := time.Now()
			caller, err := i.v.Authenticate(ctx, bearer(i.token(kid)))
			checkResult(t, caller, err, want)
			if d := time.Since(start); d != took {
				t.Errorf("took %v, want %v", d, took)
			}
		}
		var group sync.WaitGroup
		group.Go(func() { send("a", "", 500*ms) })
		time.Sleep(ms)
		group.Go(func() { send("a", unavailable, 100*ms) })
		i.took(t, "a", "", 499*ms)
		group.Wait()
		i.set(500*ms, "a", "b")
		group.Go(func() { send("b", "", 500*ms) })
		time.Sleep(ms)
		send("b", invalid, 100*ms)
		group.Wait()
		time.Sleep(time.Hour)
		send("b", "", 500*ms)
		if n := i.fetches(); n != 3 {
			t.Errorf("%d fetches, want 3", n)
		}
	})
}

// If Load runs out of time during a fetch, that doesn't count as a failure of the issuer.
func TestLoadEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.set(500*ms, "a")
		load := func() {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			defer cancel()
			start := time.Now()
			if err := i.v.Load(ctx); !errors.Is(err, auth.ErrKeysUnavailable) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Load: got %v", err)
			}
			if d := time.Since(start); d != 100*ms {
				t.Errorf("took %v, want the time until the context ends", d)
			}
		}
		load()
		i.check(t, "a", "", 500*ms, 2)
		load()
		i.check(t, "b", invalid, 500*ms, 2)
		time.Sleep(time.Hour)
		load()
		i.check(t, "a", "", 500*ms, 2)

		// A request that waits for Load's fetch then starts another.
		i.v = newVerifier(t, auth.Config{KeysURL: keysURL}, i, io.Discard)
		go load()
		time.Sleep(ms)
		i.check(t, "a", "", 599*ms, 2)
		go i.took(t, "b", invalid, 500*ms)
		time.Sleep(ms)
		load() // and the reverse
		time.Sleep(time.Second)
	})
}

// A refresh that finds the same document doesn't empty the cache of tokens.
func TestUnchangedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a", "b")
		i.check(t, "a", "", atOnce, 0)
		i.check(t, "b", "", atOnce, 0)
		for range 3 {
			time.Sleep(time.Hour)
			i.check(t, "a", "", atOnce, 1)
			i.check(t, "x", invalid, atOnce, 1)
			i.check(t, "a", "", atOnce, 0)
			if n := i.v.Cached(); n != 2 {
				t.Errorf("%d tokens in the cache, want 2", n)
			}
		}
	})
}

// If the keys are configured, a token that they don't verify causes no fetch.
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
