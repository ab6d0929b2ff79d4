package auth_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
)

// requestTime is how long a request may wait for keys: the plain server reads its body for
// 8 s only.
const requestTime = 8 * time.Second

// The first promise: while the issuer responds, a withdrawn key is rejected within an hour,
// whatever happens to the clock or the process.
func TestWithdrawnKey(t *testing.T) {
	for name, test := range map[string]struct {
		passes, jumps time.Duration // real time, and what the clock shows in addition
	}{
		"an hour has passed, the clock shows 10 minutes": {10 * time.Minute, 0},
		"the process is frozen":                          {0, time.Hour},
		"the clock is set back":                          {0, -time.Hour - 10*time.Second},
		"it is set back by less":                         {0, -time.Minute},
		"it is set back by a lot":                        {0, -30 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newRemoteIssuer(t, "a")
				check(t, i.v, i.token("a"), "")
				i.publish(900*ms, "b")
				time.Sleep(50 * time.Minute)
				i.check(t, "a", "")
				i.clock.Advance(-50 * time.Minute)
				time.Sleep(test.passes)
				i.clock.Advance(test.jumps)
				i.check(t, "a", invalid)
				i.check(t, "b", "")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // frozen during the fetch itself
		for age, want := range map[time.Duration]string{time.Hour: "", 24 * time.Hour: unavailable + ": outdated"} {
			i := newRemoteIssuer(t)
			i.publish(100*ms, "a")
			var group sync.WaitGroup
			group.Go(func() { check(t, i.v, i.token("a"), want) })
			time.Sleep(150 * ms)
			i.publish(0, "b")
			i.clock.Advance(age)
			group.Wait()
			i.clock.Advance(auth.RetryAfter)
			i.check(t, "a", invalid)
		}
	})
	if s := newRemoteIssuer(t).verifier(t, auth.Config{}).Now().String(); strings.Contains(s, "m=") {
		t.Errorf("%s has a monotonic reading, which stops while the process is frozen", s)
	}
}

// The second promise: a new key works within 5 s and a fetch, for all who arrive meanwhile,
// even while made-up keys come in, and even if it has an old kid or none.
func TestNewKey(t *testing.T) {
	for _, kid := range []string{"a", "", "b"} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "a")
			old := i.token("a")
			check(t, i.v, old, "")
			i.key = newEdKey()
			i.publish(400*ms, kid)
			var group sync.WaitGroup
			for n := range 100 {
				group.Go(func() {
					time.Sleep(time.Duration(n) * ms)
					check(t, i.v, i.token(kid), "")
				})
			}
			group.Wait()
			i.check(t, kid, "")
			check(t, i.v, old, invalid)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "0")
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				i.checkMadeUp(t, n)
				time.Sleep(50 * ms)
			}
		})
		for n := range 20 {
			time.Sleep(time.Duration(1000+n) * ms)
			kid := fmt.Sprint(n)
			i.publish(200*ms, kid)
			time.Sleep(auth.RetryAfter + 200*ms) // even if a fetch had begun
			check(t, i.v, i.token(kid), "")
		}
		cancel()
		group.Wait()
	})
	// A clock that is set back doesn't prolong the pause.
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.check(t, "x", invalid)
		i.publish(0, "b")
		i.check(t, "b", invalid)
		i.clock.Advance(-10 * time.Minute)
		i.check(t, "b", "")
	})
}

func (i *remoteIssuer) checkMadeUp(t *testing.T, n int) {
	t.Helper()
	check(t, i.v, i.token(fmt.Sprint("made up ", n)), `no key for EdDSA has the kid "made up `)
}

// The third promise: tokens with made-up keys get 401. They cause one fetch every 5 s, which
// delays no token signed by a known key. A failing fetch logs one line.
func TestMadeUpKeys(t *testing.T) {
	for _, kids := range [][]string{{"a"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			i := newRemoteIssuer(t, "a")
			i.log.Reset()
			i.publish(200*ms, kids...)
			start := time.Now()
			var group sync.WaitGroup
			for n := range 1000 { // in a minute
				group.Go(func() {
					time.Sleep(time.Duration(n) * 60 * ms)
					i.checkMadeUp(t, n)
					i.checkAtOnce(t, "a", "")
				})
			}
			group.Wait()
			most := 1 + int(time.Since(start)/(5*time.Second))
			if n := i.fetches(); n < 2 || n > most {
				t.Errorf("%d fetches in %v, want several and at most %d", n, time.Since(start), most)
			}
			if n := strings.Count(i.log.String(), "\n"); n > most || (n == 0) != (kids != nil) {
				t.Errorf("%d lines in the log of at most %d fetches:\n%s", n, most, &i.log)
			}
		})
	}
	// Nor do tokens cause fetches that fail earlier checks, or if the keys are configured.
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		check(t, i.v, compact(`{"alg":"EdDSA","kid":"x"}`, claimsAnd(`"typ":"ID"`), i.key, unhashed), invalid)
		keys, err := auth.ParseKeySet(i.keySet("a"))
		must(err)
		i.v = i.verifier(t, auth.Config{Keys: keys, KeysURL: keysURL})
		must(i.v.Load(t.Context()))
		i.checkMadeUp(t, 0)
		if len(i.requests) > 0 {
			t.Errorf("got requests for %q, want none", i.requests)
		}
	})
}

// The fourth promise: while an issuer is down, its keys last for a day, and then requests are
// told to retry. When it responds again, its keys are found.
func TestIssuerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.publish(ms)
		time.Sleep(23 * time.Hour)
		i.check(t, "a", "")
		time.Sleep(59 * time.Minute)
		i.check(t, "a", "")
		time.Sleep(time.Minute)
		i.check(t, "a", unavailable+": GET https://keys.test/k: status 404")
		i.fetches()
		i.check(t, "a", unavailable)
		if n := i.fetches(); n > 0 {
			t.Errorf("%d fetches at once after one that failed", n)
		}
		time.Sleep(auth.RetryAfter)
		i.publish(ms, "a")
		i.check(t, "a", "")
	})
}

// If the issuer hangs, only one request in 30 s waits, if the keys are usable. Without keys,
// all requests wait for one fetch, and fail before they run out of time.
func TestIssuerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.publish(time.Hour, "a", "b")
		time.Sleep(time.Hour)
		start, waited := time.Now(), 0
		var group sync.WaitGroup
		for n := range 600 { // in a minute
			group.Go(func() {
				time.Sleep(time.Duration(n) * 100 * ms)
				arrived := time.Now()
				check(t, i.v, i.token("a"), "")
				if took := time.Since(arrived); took > 0 {
					i.mu.Lock()
					defer i.mu.Unlock()
					waited++
				}
			})
		}
		group.Wait()
		if most := 1 + int(time.Since(start)/(30*time.Second)); waited == 0 || waited > most {
			t.Errorf("%d requests waited in %v, want at most %d", waited, time.Since(start), most)
		}
		time.Sleep(24 * time.Hour)
		i.fetches()
		for range 20 {
			group.Go(func() {
				arrived := time.Now()
				check(t, i.v, i.token("a"), unavailable)
				if took := time.Since(arrived); took == 0 || took >= requestTime {
					t.Errorf("took %v, want to wait for the fetch, but less than %v", took, requestTime)
				}
			})
		}
		group.Wait()
		i.check(t, "a", unavailable)
		if n := i.fetches(); n != 1 {
			t.Errorf("%d fetches, want one for all", n)
		}
	})
}
