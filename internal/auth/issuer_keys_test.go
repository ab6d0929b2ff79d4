package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
)

// A fetch succeeds within one request if the issuer takes 2.8 s for each document, or if the
// name server makes one of them take 5 s. The start may end earlier, which doesn't count as
// a fetch.
func TestSlowIssuer(t *testing.T) {
	for _, delays := range [][2]time.Duration{{2800 * ms, 2800 * ms}, {5100 * ms, 100 * ms}, {100 * ms, 5100 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t)
			i.publish(0, "a")
			i.delays = map[string]time.Duration{openID: delays[0], keysURL: delays[1]}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if i.v.Load(ctx) == nil {
				t.Error("Load had enough time")
			}
			i.check(t, "a", "")
			for range 30 {
				time.Sleep(time.Hour)
				i.check(t, "a", "")
			}
		})
	}
}

// If the issuer moves its keys, the new address counts at once, even if there are still keys
// at the old one. If the metadata can't be read, the last known address is used.
func TestMovedKeys(t *testing.T) {
	const moved = "https://moved.test/keys"
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.pages[openID], i.pages[moved] = metadata("https://issuer.test", moved), string(i.keySet("b"))
		i.check(t, "b", "")
		i.check(t, "a", invalid)
		for _, page := range []string{metadata("https://b.test", keysURL), "{}", notFound, "hangs"} {
			i.pages[openID] = page
			if page == "hangs" {
				i.delays[openID] = time.Hour
			}
			i.log.Reset()
			time.Sleep(time.Hour)
			i.check(t, "b", "")
			s := i.log.String()
			if strings.Count(s, "\n") != 1 ||
				!strings.Contains(s, "fetched the token keys, but not the issuer's metadata") {
				t.Errorf("%s: got the log %s; want one line about the metadata", page, s)
			}
		}
		delete(i.pages, moved)
		time.Sleep(time.Hour)
		i.check(t, "b", "")
		if s := i.log.String(); !strings.Contains(s, "moved.test/keys: status 404 Not Found; GET "+openID) {
			t.Errorf("got the log %s; want both causes", s)
		}
	})
	synctest.Test(t, func(t *testing.T) { // the address is known, but never had keys
		i := newRemoteIssuer(t)
		i.pages = map[string]string{openID: metadata("https://issuer.test", moved)}
		i.check(t, "a", unavailable)
		i.pages = map[string]string{moved: string(i.keySet("a"))}
		time.Sleep(auth.RetryAfter)
		i.check(t, "a", "")
	})
}

// When a client disconnects, its request still finishes a fetch, since others rely on it.
// A request that only waits for another's fetch ends at once.
func TestDisconnectedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.publish(500*ms, "a")
		send := func(want string) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			defer cancel()
			caller, err := i.v.Authenticate(ctx, bearer(i.token("a")), "plants/read")
			checkResult(t, caller, err, want)
		}
		var group sync.WaitGroup
		group.Go(func() { send("") })
		time.Sleep(ms)
		start := time.Now()
		send(unavailable)
		if d := time.Since(start); d > 100*ms {
			t.Errorf("a disconnected client waited for %v", d)
		}
		i.check(t, "a", "")
		group.Wait()
	})
}
