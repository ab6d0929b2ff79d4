package auth_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

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
			i.set(2500*ms, "a")
			if kids == nil {
				i.check(t, "a", "", 2500*ms, 2)
				return
			}
			i.check(t, "a", "", time.Second, 2)
			time.Sleep(1100 * ms) // the frozen fetch ends
			i.check(t, "a", "", atOnce, 0)
			i.check(t, "b", invalid, atOnce, 0)
			time.Sleep(400 * ms) // the other one ends
			i.check(t, "a", "", atOnce, 0)
		})
	}
}

// While there are no keys, a frozen fetch is replaced as soon as clients may retry.
func TestFrozenFirstFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.set(4*time.Second, "old")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_ = i.v.Load(ctx)
		i.v.Age(auth.RetryAfter - 2*time.Second + ms)
		i.set(ms, "a")
		i.check(t, "a", "", ms, 2)
		time.Sleep(5 * time.Second)
	})
}

// A clock that was set back postpones nothing: neither searches nor refreshes, and keys
// don't live longer.
func TestClock(t *testing.T) {
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

			i.set(4500*ms, "c")
			time.Sleep(time.Hour - ms)
			i.check(t, "a", "", atOnce, 0)
			i.v.Age(by)
			time.Sleep(ms)
			i.check(t, "a", "", time.Second, 1)
			i.v.Age(by) // during a fetch
			i.check(t, "a", "", atOnce, 0)
			time.Sleep(3500 * ms)
			i.check(t, "c", "", atOnce, 0)

			i.set(0)
			i.v.Age(by)
			time.Sleep(24*time.Hour - 4500*ms - ms)
			i.check(t, "c", "", atOnce, 1)
			time.Sleep(auth.RetryAfter)
			i.check(t, "c", unavailable, atOnce, 1)
		})
	}
}

// Metadata that was frozen doesn't count either, even without any before.
func TestFrozenMetadata(t *testing.T) {
	const moved = "https://moved.test/keys"
	synctest.Test(t, func(t *testing.T) {
		tokens := authtest.NewIssuer(t)
		s := &site{pages: map[string]string{openID: metadata("https://a.test", keysURL)}, delay: 4 * time.Second}
		v := newVerifier(t, auth.Config{Issuer: "https://a.test"}, s, io.Discard)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_ = v.Load(ctx)
		v.Age(auth.RetryAfter - 2*time.Second + ms)
		synctest.Wait()
		s.delay, s.pages = 0, map[string]string{openID: metadata("https://a.test", moved), moved: string(tokens.JWKS())}
		checkTook(t, v, tokens, "", 0)
		time.Sleep(2 * time.Second) // the frozen step ends
		synctest.Wait()
		s.requests = nil
		checkTook(t, v, authtest.NewIssuer(t), invalid, 0)
		if want := []string{moved, openID}; !slices.Equal(s.requests, want) {
			t.Errorf("fetched %q, want %q", s.requests, want)
		}
	})
}
