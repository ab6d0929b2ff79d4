package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The timing of remote keys.
const (
	refreshAfter = time.Hour        // age at which keys are fetched again
	expireAfter  = 24 * time.Hour   // age at which keys are dropped if every refresh fails
	refreshEvery = 30 * time.Second // after a failed refresh
	loadEvery    = 5 * time.Second  // between fetches without keys
	searchEvery  = 2 * time.Second  // for newer keys, after searchBurst fetches at once
	searchBurst  = 3
	waitTimeout  = time.Second // since the start of a fetch, while there are keys
)

// issuerKeys are the keys of an issuer, fixed or fetched from it. They are safe for
// concurrent use.
//
// Requests fetch them, one fetch at a time, and wait for the fetch: between
// requests the program may be frozen, as on AWS Lambda, and a frozen fetch runs
// out of time. Which requests need a fetch depends on the keys at hand:
//
//	keys                       a fetch starts at most             a request waits until the fetch
//	none, or a day old         5 s after the last began           ends
//	don't verify the token     3 times at once, then every 2 s    ends or has taken a second
//	an hour old                30 s after one that failed         ends or has taken a second
//
// After the wait the request makes do with the keys at hand. The fetch goes on
// even if nobody waits for it any more. One that was frozen runs out of time as
// soon as the next request comes; without keys, that request starts another.
type issuerKeys struct {
	fixed  bool // set never changes
	client *http.Client
	log    *slog.Logger // for failed fetches

	// Only the fetch in progress uses these.
	issuer   string   // whose metadata has the address; empty if that is known
	metadata []string // addresses of the metadata
	address  string   // of the keys; empty until discovered
	scopes   []string // that the metadata names

	mu         sync.Mutex
	set        *keySet
	fetched    time.Time     // start of the fetch that returned set; zero without one
	searches   *rate.Limiter // for newer keys
	began      time.Time     // start of the last fetch
	inProgress chan struct{} // closed when that fetch ends; nil between fetches
	ended      time.Time     // end of the last fetch
	lastError  error         // of the last fetch
}

// load fetches the keys, unless they are fixed.
func (k *issuerKeys) load(ctx context.Context) (*keySet, error) {
	if k.fixed {
		return k.set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.await(ctx, k.start(wallClock()), false)
	if ctx.Err() != nil {
		return nil, waited(ctx)
	}
	return k.set, k.lastError
}

// get returns the keys for a request that began at start: those at hand or, if
// they don't verify its token and are passed as rejected, newer ones. If there are
// none, it returns the rejected keys, with an error if newer ones can't be fetched.
// One fetch is enough for a request. Errors match ErrKeysUnavailable or ctx.Err().
func (k *issuerKeys) get(ctx context.Context, rejected *keySet, start time.Time) (*keySet, error) {
	if k.fixed {
		return k.set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := wallClock()
	if k.unexpired(now) == nil && k.inProgress != nil {
		k.await(ctx, k.inProgress, false)
		now = wallClock()
	}
	set, f := k.unexpired(now), k.inProgress
	var due bool
	switch {
	case set == nil:
		due = elapsed(k.began, now, loadEvery)
	case set == rejected:
		due = f == nil && !k.ended.After(start) && k.searches.AllowN(now, 1)
	case elapsed(k.fetched, now, refreshAfter):
		due = elapsed(k.ended, now, refreshEvery)
	default:
		return set, nil
	}
	if f == nil && due {
		f = k.start(now)
	}
	if f != nil {
		k.await(ctx, f, set != nil)
	}
	set = k.unexpired(wallClock())
	switch {
	case set == nil && ctx.Err() != nil:
		return nil, waited(ctx)
	case k.inProgress != nil && (set == nil || set == rejected):
		return set, fmt.Errorf("%w: still being fetched", ErrKeysUnavailable)
	case set == nil || set == rejected && k.lastError != nil:
		return set, fmt.Errorf("%w: %v", ErrKeysUnavailable, k.lastError) // which may match a context's error
	}
	return set, nil
}

// await waits until ctx or the fetch in progress, f, ends or, if there are keys, f
// has taken waitTimeout. It unlocks k.mu meanwhile.
func (k *issuerKeys) await(ctx context.Context, f chan struct{}, keys bool) {
	if keys {
		limited, cancel := context.WithTimeout(ctx, waitTimeout-wallClock().Sub(k.began))
		defer cancel()
		ctx = limited
	}
	k.mu.Unlock()
	defer k.mu.Lock()
	select {
	case <-f:
	case <-ctx.Done():
	}
}

// waited returns the error of a request that ended while it waited.
func waited(ctx context.Context) error {
	return fmt.Errorf("waiting for the token issuer's keys: %w", ctx.Err())
}

// unexpired returns nil if there are no keys. The caller must hold k.mu.
func (k *issuerKeys) unexpired(now time.Time) *keySet {
	if now.Sub(k.fetched) >= expireAfter {
		return nil
	}
	return k.set
}

// start starts a fetch, unless one is in progress, and returns it. The fetch
// outlives the request that started it. The caller must hold k.mu.
func (k *issuerKeys) start(now time.Time) chan struct{} {
	if k.inProgress != nil {
		return k.inProgress
	}
	f := make(chan struct{})
	k.began, k.inProgress = now, f
	go func() {
		set, err := k.fetch()
		if err != nil {
			k.log.Warn("token keys not fetched", "cause", err.Error())
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if err == nil {
			k.set, k.fetched = set, now
		}
		k.inProgress, k.ended, k.lastError = nil, wallClock(), err
		close(f)
	}()
	return f
}

// fetch finds the address, if necessary, and fetches the keys. It keeps an address
// that doesn't answer in time: a slow issuer must not need both fetches each time.
func (k *issuerKeys) fetch() (set *keySet, err error) {
	if k.address == "" {
		err = k.discover()
	}
	if err == nil {
		err = get(k.client, k.address, func(body []byte) (err error) {
			set, err = parseKeySet(body)
			return err
		})
	}
	if err != nil {
		if timeout, ok := errors.AsType[net.Error](err); k.issuer != "" && !(ok && timeout.Timeout()) {
			k.address = ""
		}
		return nil, fmt.Errorf("fetching the token issuer's keys: %w", err)
	}
	set.scopes = k.scopes
	return set, nil
}

// wallClock returns the time without its monotonic reading, which may stop
// while the program is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// elapsed reports whether d has passed since t. A t in the future was read from
// a wrong clock and counts as long ago, so that it can't postpone a fetch.
func elapsed(t, now time.Time, d time.Duration) bool {
	age := now.Sub(t)
	return age < 0 || age >= d
}
