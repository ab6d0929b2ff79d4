package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// issuerKeys holds the keys of an issuer, configured or fetched. Requests fetch the keys
// themselves, because AWS Lambda freezes the process between requests. One request fetches
// at a time, and never within 5 s of the end of the last fetch. There are four promises:
//
//   - A withdrawn key is rejected within an hour and a fetch, while the issuer responds with a key set,
//     even one without usable keys. When the keys are an hour old, one request fetches them again. The
//     others don't wait.
//   - A new key works within 5 s and a fetch. If the known keys don't verify a token, its
//     request fetches them again, or waits for another request's fetch.
//   - Made-up tokens don't flood the issuer. They cause a fetch every 5 s, and tokens signed
//     by known keys never wait for it.
//   - While the issuer is down or responds with anything else, the keys that it hasn't withdrawn are
//     used until they are a day old. Without keys, requests get ErrKeysUnavailable, and one request
//     tries again every 5 s.
type issuerKeys struct {
	client      *http.Client
	log         *slog.Logger
	issuer      string           // the metadata must name it
	metadataURL string           // empty if metadata isn't needed
	fixed       *KeySet          // configured keys, or nil to fetch them
	wall        func() time.Time // wallClock, except in tests

	known    atomic.Pointer[knownKeys]
	fetching chan struct{} // a lock: full during a fetch
}

// knownKeys is what is known after a fetch. It is immutable; the next fetch replaces it.
type knownKeys struct {
	keysURL string  // empty if unknown
	set     *KeySet // nil without keys
	asOf    moment  // when the fetch of set began; zero without keys
	ended   moment  // when the last fetch ended; zero before the first
	err     error   // of the last fetch

	withdrawn bool // whether a later fetch brought a key set without a usable key
}

const (
	refreshAfter = time.Hour // age of the keys

	// retryRefresh is the pause after a failed refresh of keys that are still usable. An
	// issuer that hangs would delay too many requests after the shorter [RetryAfter].
	retryRefresh = 30 * time.Second
)

// expireAfter returns the age at which the keys expire. If the issuer has withdrawn them, that is an
// hour. They don't expire at once, since some issuers publish an empty key set for a moment.
func (known *knownKeys) expireAfter() time.Duration {
	if known.withdrawn {
		return refreshAfter
	}
	return 24 * time.Hour
}

// newIssuerKeys returns the keys that c describes. It doesn't fetch them yet.
func newIssuerKeys(c Config, log *slog.Logger) (*issuerKeys, error) {
	keysURL, metadataURL, err := addresses(c)
	if err != nil {
		return nil, err
	}
	k := &issuerKeys{
		client:      newClient(),
		log:         log,
		issuer:      c.Issuer,
		metadataURL: metadataURL,
		fixed:       c.Keys,
		wall:        wallClock,
		fetching:    make(chan struct{}, 1),
	}
	k.known.Store(&knownKeys{keysURL: keysURL})
	return k, nil
}

// wallClock returns the time without its monotonic reading, which stops while the process
// is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// A moment is a time by two clocks. The wall clock may be set back. The monotonic clock stops while the
// process is frozen, as Lambda does between requests. Two fields, since tests move only the wall clock.
type moment struct{ wall, mono time.Time }

func (k *issuerKeys) now() moment { return moment{k.wall(), time.Now()} }

// since returns how long ago m was, by the clock on which more time has passed. The zero moment was longer
// ago than every limit.
func (k *issuerKeys) since(m moment) time.Duration {
	wall := k.wall().Sub(m.wall)
	if wall < 0 { // set back, and nobody knows how far: old enough for a fetch, but not expired
		wall = refreshAfter
	}
	return max(wall, time.Since(m.mono))
}

// What a request does while another one fetches the keys.
const wait, dontWait = true, false

// current returns keys that haven't expired, or ErrKeysUnavailable. After an hour, it fetches new ones.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	var err error
	known := k.known.Load()
	switch age := k.since(known.asOf); {
	case age < refreshAfter:
		return known.set, nil
	case age >= known.expireAfter(): // all requests need new keys, so all wait for one fetch
		known, err = k.refresh(ctx, known, RetryAfter, wait)
	default: // one request fetches new keys, and the others use the old ones
		pause := RetryAfter
		if known.err != nil {
			pause = retryRefresh
		}
		known, err = k.refresh(ctx, known, pause, dontWait)
	}
	// An error counts only if the keys have expired. Even keys that were just fetched may have
	// expired, if the machine slept meanwhile.
	if k.since(known.asOf) >= known.expireAfter() {
		if err == nil {
			err = errors.New("outdated: they expired during their own fetch")
		}
		// Not %w: if the fetch ran out of time, package handlers would think that the request did.
		return nil, fmt.Errorf("%w: %v", ErrKeysUnavailable, err)
	}
	return known.set, nil
}

// newest returns the newest keys, after the keys old haven't verified a token. It fetches them, or waits
// for another call that does. If the issuer was asked less than 5 s ago, it returns old, and the error
// of that fetch.
func (k *issuerKeys) newest(ctx context.Context, old *KeySet) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	known := k.known.Load()
	if known.set != old { // another request has fetched them
		return known.set, nil
	}
	known, err := k.refresh(ctx, known, RetryAfter, wait)
	return known.set, err
}

// refresh fetches the keys, unless the last fetch ended within the pause, or another request has fetched
// them since the caller loaded seen. It returns the newest keys, and the error of the last fetch.
func (k *issuerKeys) refresh(ctx context.Context, seen *knownKeys, pause time.Duration, waits bool) (*knownKeys, error) {
	if k.since(seen.ended) < pause {
		return seen, seen.err
	}
	if !k.lock(ctx, waits) {
		return seen, errors.New("still being fetched")
	}
	defer func() { <-k.fetching }()
	known := k.known.Load()
	if known == seen { // else another request has just fetched them
		known = k.fetch(context.WithoutCancel(ctx)) // it serves all requests, even if this client disconnects
		k.known.Store(known)
	}
	return known, known.err
}

// lock reports whether the caller has the lock. If another has it, lock gives up at once or, if it
// waits, when ctx ends.
func (k *issuerKeys) lock(ctx context.Context, waits bool) bool {
	if waits {
		select {
		case k.fetching <- struct{}{}:
			return true
		case <-ctx.Done():
			return false
		}
	}
	select {
	case k.fetching <- struct{}{}:
		return true
	default:
		return false
	}
}

// load fetches the keys, during a start. If ctx ends first, the result is dropped: the issuer may only
// be slow, and the pause of 5 s after a failed fetch would fail the first requests.
func (k *issuerKeys) load(ctx context.Context) error {
	if k.fixed != nil {
		return nil
	}
	known := k.fetch(ctx)
	if ctx.Err() == nil {
		k.known.Store(known)
	}
	return known.err
}

// fetch fetches the keys and returns the result, for the caller to store.
func (k *issuerKeys) fetch(ctx context.Context) *knownKeys {
	next, began := *k.known.Load(), k.now()
	var set *KeySet
	next.keysURL, set, next.err = k.download(ctx, next.keysURL)
	next.ended = k.now()
	if next.err != nil {
		k.log.Warn("token keys not fetched", "cause", next.err.Error())
		next.withdrawn = next.withdrawn || errors.Is(next.err, errNoUsableKey)
		return &next
	}
	next.set, next.asOf, next.withdrawn = set, began, false
	return &next
}
