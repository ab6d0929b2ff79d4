package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// issuerKeys are the keys of an issuer, fixed or fetched from it. Requests start
// fetches and wait for them: between requests the program may be frozen, as on AWS
// Lambda, so a fetch that nobody waits for may never end.
//
//	keys                       a request starts a fetch            and waits until the fetch is
//	none, or a day old         5 s after the last one began        3 s old
//	an hour old                30 s after the last one began       1 s old
//	don't verify the token     every 2 s, the first three at once  1 s old
//
// One fetch runs at a time, and all requests that need one wait for it. After that
// they use the keys at hand. The fetch goes on even if nobody waits any more.
type issuerKeys struct {
	client   *http.Client
	log      *slog.Logger
	warnings rate.Sometimes // anybody can cause a fetch
	issuer   string         // that the metadata must name
	metadata []string       // where it may be; empty if the source is configured
	scopes   serviceScopes  // that the metadata may name
	fixed    bool           // the keys are configured, and never fetched

	fetches atomic.Int64 // that have ended

	mu       sync.Mutex // for what follows; methods that say so must be called with it
	set      *KeySet
	fetched  time.Time     // when the fetch of set began; zero without keys
	source   source        // configured, or found by a fetch
	last     *fetch        // the one that began last
	changed  chan struct{} // closed, and replaced, when there are new keys and when a fetch ends
	searches *rate.Limiter // of fetches for tokens that the keys don't verify; see maySearch
	searched time.Time     // when searches was asked last
}

// A fetch reads the keys and the metadata once.
type fetch struct {
	began time.Time
	ended bool
	err   error // why it brought no keys
}

// A source is what the issuer's metadata says.
type source struct {
	address         string // of the keys; empty until it is known
	scopesPublished bool   // whether the issuer has scopes of this service
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour
	retryRefresh = 30 * time.Second
	loadWait     = 3 * time.Second // without keys
	fetchWait    = time.Second

	// No fetch takes longer than its four documents can: keys, metadata at two
	// addresses, keys elsewhere. One that seems to was frozen with the program.
	maxFetch = 4 * fetchTimeout
)

// load fetches the keys and waits until ctx ends.
func (k *issuerKeys) load(ctx context.Context) (*KeySet, error) {
	if k.fixed {
		return k.set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.start(wallClock())
	k.await(ctx, untilEnd)
	if !k.last.ended || k.last.err != nil {
		return nil, k.unavailable()
	}
	return k.set, nil
}

// current returns keys that are less than a day old and, if the issuer responds in
// time, less than an hour. It waits until the fetch has read the metadata too: if the
// program is frozen after each request, it would never be read otherwise.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	if k.fixed {
		return k.set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := wallClock()
	switch {
	case k.expired(now):
		if hasPassed(RetryAfter, k.last.began, now) {
			k.start(now)
		}
		k.awaitFor(ctx, loadWait, untilEnd)
	case hasPassed(refreshAfter, k.fetched, now):
		if hasPassed(retryRefresh, k.last.began, now) {
			k.start(now)
		}
		k.awaitFor(ctx, fetchWait, untilEnd)
	}
	if k.expired(now) {
		return nil, k.unavailable()
	}
	return k.set, nil
}

// newer returns keys other than rejected, which don't verify the token of a request,
// as soon as there are some. It returns nil if the issuer has none, and an error if
// the fetch has failed or goes on. It starts no fetch if one has ended since the
// request arrived: fetches is the number of those that had ended then.
func (k *issuerKeys) newer(ctx context.Context, rejected *KeySet, fetches int64) (*KeySet, error) {
	if k.fixed {
		return nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	isNewer := func() bool { return k.set != rejected }
	if !isNewer() && k.fetches.Load() == fetches {
		// To join a running fetch is free.
		if now := wallClock(); !k.fetching(now) && k.maySearch(now) {
			k.start(now)
		}
		k.awaitFor(ctx, fetchWait, isNewer)
	}
	switch {
	case isNewer():
		return k.set, nil
	case !k.last.ended || k.last.err != nil:
		return nil, k.unavailable()
	}
	return nil, nil
}

// expired reports whether there are no keys, or only keys that are too old. It must be
// called with k.mu.
func (k *issuerKeys) expired(now time.Time) bool { return now.Sub(k.fetched) >= expireAfter }

// hasPassed reports whether a time has passed since start, or the clock was set back
// since then: that must not postpone anything.
func hasPassed(d time.Duration, start, now time.Time) bool {
	since := now.Sub(start)
	return since < 0 || since >= d
}

// fetching reports whether a fetch is running that wasn't frozen with the program. It
// must be called with k.mu.
func (k *issuerKeys) fetching(now time.Time) bool {
	return !k.last.ended && now.Sub(k.last.began) <= maxFetch
}

// maySearch reports whether the budget allows a fetch for a token that the keys don't
// verify, and charges it. It must be called with k.mu.
func (k *issuerKeys) maySearch(now time.Time) bool {
	if now.Before(k.searched) { // the clock was set back, and an empty budget would stay empty as long
		k.searches = newSearches()
	}
	k.searched = now
	return k.searches.AllowN(now, 1)
}

func newSearches() *rate.Limiter { return rate.NewLimiter(rate.Every(2*time.Second), 3) }

// unavailable returns the error of the last fetch, which is running or has failed. It
// must be called with k.mu.
func (k *issuerKeys) unavailable() error {
	if !k.last.ended {
		return fmt.Errorf("%w: still being fetched", ErrKeysUnavailable)
	}
	return fmt.Errorf("%w: %v", ErrKeysUnavailable, k.last.err)
}

// untilEnd is for await and awaitFor.
func untilEnd() bool { return false }

// awaitFor is [issuerKeys.await], but only until the fetch has taken limit.
func (k *issuerKeys) awaitFor(ctx context.Context, limit time.Duration, enough func() bool) {
	taken := max(0, wallClock().Sub(k.last.began)) // 0 if the clock was set back
	ctx, cancel := context.WithTimeout(ctx, limit-taken)
	defer cancel()
	k.await(ctx, enough)
}

// await waits until no fetch is running, enough returns true, or ctx ends. It must be
// called with k.mu, and unlocks it meanwhile.
func (k *issuerKeys) await(ctx context.Context, enough func() bool) {
	for !k.last.ended && !enough() && ctx.Err() == nil {
		changed := k.changed
		k.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		k.mu.Lock()
	}
}

// start starts a fetch, unless one is running. It must be called with k.mu.
func (k *issuerKeys) start(now time.Time) {
	if !k.fetching(now) {
		k.last = &fetch{began: now}
		go k.run(k.last, k.source)
	}
}

// notify wakes those who wait. It must be called with k.mu.
func (k *issuerKeys) notify() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// run runs a fetch.
func (k *issuerKeys) run(f *fetch, known source) {
	err, metadataErr := k.fetch(f, known)
	k.client.CloseIdleConnections() // the next fetch may be an hour away
	switch {
	case err != nil:
		k.warn("token keys not fetched", err)
	case metadataErr != nil:
		k.warn("metadata of the token issuer not fetched; the keys were", metadataErr)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	f.ended, f.err = true, err
	if k.last == f {
		k.fetches.Add(1)
		k.notify()
	}
}

func (k *issuerKeys) warn(message string, cause error) {
	k.warnings.Do(func() { k.log.Warn(message, "cause", cause.Error()) })
}

// fetch reads the keys at the known address, if any, and then the metadata, since an
// issuer may move its keys or add scopes. In this order, a token that is signed with
// a new key doesn't have to wait for the metadata. The errors say why there are no new
// keys, and no metadata.
func (k *issuerKeys) fetch(f *fetch, known source) (err, metadataErr error) {
	err = errors.New("their address is unknown")
	if known.address != "" {
		err = k.readKeys(f, known)
	}
	if len(k.metadata) == 0 {
		return err, nil
	}
	found, metadataErr := k.readMetadata()
	switch {
	case metadataErr != nil && known.address == "":
		return metadataErr, nil
	case metadataErr == nil && found != known:
		return k.readKeys(f, found), nil
	}
	return err, metadataErr
}

// readKeys reads the keys of s for a fetch. It publishes s and the keys unless another
// fetch has replaced this one.
func (k *issuerKeys) readKeys(f *fetch, s source) error {
	keys, err := read(k.client, s.address, ParseKeySet)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != f {
		return err
	}
	k.source = s
	if err == nil {
		keys.scopesPublished = s.scopesPublished
		k.set, k.fetched = keys, f.began
		k.notify()
	}
	return err
}

// wallClock has no monotonic reading, which may stop while the program is frozen.
func wallClock() time.Time { return time.Now().Round(0) }
