package auth_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
)

// The first promise: while the issuer responds, a withdrawn key is rejected within an hour.
// The first request after that waits for one fetch.
func TestWithdrawnKeyIsRejectedAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(900*ms, "b")
		time.Sleep(time.Hour - ms)
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(ms)
		i.check(t, "a", invalid, 900*ms, 1)
		i.check(t, "b", "", atOnce, 0)
		time.Sleep(time.Hour - 901*ms) // the age counts from the beginning of the fetch
		i.check(t, "b", "", atOnce, 0)
		time.Sleep(ms)
		i.check(t, "b", "", 900*ms, 1)
	})
}

// The second promise: a new key works within a second. Its first token waits for a fetch,
// and so do the tokens that arrive meanwhile.
func TestNewKeyWorksWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(800*ms, "a", "b")
		var group sync.WaitGroup
		for n := range 100 {
			group.Go(func() {
				time.Sleep(time.Duration(n) * ms)
				i.took(t, "b", "", 800*ms-time.Duration(n)*ms)
			})
		}
		group.Wait()
		i.check(t, "b", "", atOnce, 1)
	})
}

// The third promise: tokens with made-up keys get 401 and don't delay other tokens. They
// cause three fetches at once, then one every two seconds.
func TestMadeUpKeysDoNotFloodTheIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(200*ms, "a")
		var group sync.WaitGroup
		start := time.Now()
		for n := range 1000 { // in a minute
			group.Go(func() {
				time.Sleep(time.Duration(n) * 60 * ms)
				check(t, i.v, i.token(fmt.Sprint("made up ", n)), `no key for EdDSA has the kid "made up `)
				i.took(t, "a", "", atOnce)
			})
		}
		group.Wait()
		if n, most := i.fetches(), 3+int(time.Since(start)/(2*time.Second)); n < most-1 || n > most {
			t.Errorf("%d fetches in %v, want %d", n, time.Since(start), most)
		}
		time.Sleep(50 * time.Minute) // the budget is full, but not larger
		for range 3 {
			i.check(t, "x", invalid, 200*ms, 1)
		}
		i.check(t, "x", invalid, atOnce, 0)
		time.Sleep(1390 * ms) // almost two seconds since the first
		i.check(t, "x", invalid, atOnce, 0)
		time.Sleep(10 * ms)
		i.check(t, "x", invalid, 200*ms, 1)
	})
}

// The fourth promise: while an issuer is down, its keys last for a day, and one request
// tries to fetch them every 30 s. After that day, requests are told to retry, and one
// request tries every 5 s.
func TestKeysOfAnIssuerThatIsDownLastADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.set(ms) // the issuer is down from now on
		time.Sleep(time.Hour)
		i.check(t, "a", "", ms, 1)
		time.Sleep(30*time.Second - ms) // before the next attempt
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(ms)
		i.check(t, "a", "", ms, 1)
		time.Sleep(23*time.Hour - time.Minute)
		i.check(t, "a", "", ms, 1)
		time.Sleep(30*time.Second - 4*ms)
		i.check(t, "a", "", atOnce, 0)
		time.Sleep(ms) // the keys are a day old
		i.check(t, "a", unavailable, ms, 1)
		time.Sleep(auth.RetryAfter - ms)
		i.check(t, "a", unavailable+": GET https://keys.test/k: status 404", atOnce, 0)
		i.set(ms, "a")
		time.Sleep(ms)
		i.check(t, "a", "", ms, 1)
	})
}
