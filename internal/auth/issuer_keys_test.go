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
		send(unavailable + ": still being fetched")
		if d := time.Since(start); d > 100*ms {
			t.Errorf("a disconnected client waited for %v", d)
		}
		i.check(t, "a", "")
		group.Wait()
	})
}

// A key set without a usable key withdraws the old keys, but not before they are an hour old,
// since it may be there for a moment only. Other documents withdraw nothing.
func TestNoUsableKey(t *testing.T) {
	for page, withdraws := range map[string]bool{
		`{"keys":[]}`:                         true,
		`{"keys":[1,{}]}`:                     true,
		`{"keys":[{"kty":"oct","k":"AAAA"}]}`: true,
		`{}`:                                  false,
		`null`:                                false,
		`{"keys":null}`:                       false,
		`{"keys":{}}`:                         false,
		`{"error":"temporarily_unavailable"}`: false,
		"HTTP/1.1 503 x\r\n\r\n{\"keys\":[]}": false,
		"":                                    false, // no response
	} {
		const madeUp, unknown = "made up", "newer keys are unknown: GET https://keys.test/k: "
		sleepUntil := func(start time.Time, age time.Duration) { time.Sleep(time.Until(start.Add(age))) }
		t.Run(page, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // for 100 ms, in which a made-up key causes a fetch
				start, i := time.Now(), newRemoteIssuer(t, "a")
				sleepUntil(start, 10*time.Minute)
				i.pages[keysURL] = page
				i.check(t, madeUp, unknown)
				time.Sleep(100 * ms)
				i.publish(0, "a")
				for range 120 {
					i.check(t, "a", "")
					time.Sleep(time.Minute)
				}
			})
			synctest.Test(t, func(t *testing.T) { // for good
				start, i := time.Now(), newRemoteIssuer(t, "a")
				i.pages[keysURL] = page
				sleepUntil(start, 59*time.Minute)
				i.check(t, madeUp, unknown)
				sleepUntil(start, time.Hour-1)
				i.check(t, "a", "")
				time.Sleep(time.Nanosecond)
				want, age := "", 24*time.Hour
				if withdraws {
					want, age = unavailable+": GET https://keys.test/k: the JSON Web Key Set has no usable key", time.Hour
				}
				i.check(t, "a", want)
				if withdraws { // a silent issuer doesn't bring them back
					i.pages[keysURL] = ""
				}
				sleepUntil(start, age)
				i.fetches()
				for range 60 {
					i.check(t, "a", unavailable)
					time.Sleep(time.Second)
				}
				if n := i.fetches(); n < 11 || n > 13 {
					t.Errorf("%d fetches in a minute, want one every 5 s", n)
				}
				i.publish(0, "b")
				time.Sleep(auth.RetryAfter)
				i.check(t, "b", "")
				i.check(t, "a", invalid)
			})
		})
	}
}
