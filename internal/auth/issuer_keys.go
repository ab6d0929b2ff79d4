package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// issuerKeys are the keys of an issuer, configured or fetched from it. Requests fetch the
// keys themselves and wait until the fetch ends, 3 s at most, because AWS Lambda freezes
// the process between requests. One request fetches at a time. It keeps four promises:
//
//   - A withdrawn key is rejected within an hour, while the issuer responds: keys that are
//     an hour old are fetched again by one request. The others don't wait.
//   - A new key works at once: a token that the known keys don't verify makes its request
//     fetch them, or wait for a fetch that began later than the request.
//   - Made-up keys don't flood the issuer: these fetches have a budget of three at once, and
//     then one every 2 s. Other tokens never wait for them.
//   - While the issuer is down, its keys last until they are a day old. Without keys, requests
//     get ErrKeysUnavailable, and one of them tries again every 5 s.
type issuerKeys struct {
	client   *http.Client
	log      *slog.Logger
	warnings rate.Sometimes   // anybody can cause a fetch
	issuer   string           // that the metadata must name
	metadata string           // its address; empty if that of the keys is configured
	fixed    *KeySet          // configured keys, or nil to fetch them
	now      func() time.Time // wallClock, except in tests

	known    atomic.Pointer[knownKeys]
	begun    atomic.Int64  // how many fetches have begun: unlike times, it orders fetches and requests exactly
	fetching chan struct{} // a lock: full during a fetch
	searches *rate.Limiter // of fetches for tokens that the known keys don't verify
}

// knownKeys is what is known after a fetch. It never changes. The next fetch replaces it.
type knownKeys struct {
	number  int64     // of the fetch, from 1
	address string    // of the keys; empty until it is known
	set     *KeySet   // nil without keys
	fetched time.Time // when the fetch of set began; the zero time without keys
	failed  time.Time // when a fetch last failed
	err     error     // of the fetch
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour
	retryRefresh = 30 * time.Second
)

var (
	errFetching = errors.New("still being fetched")
	errOutdated = errors.New("outdated")
)

// newIssuerKeys returns the keys that c describes, but fetches none yet.
func newIssuerKeys(c Config, client *http.Client, log *slog.Logger) (*issuerKeys, error) {
	address, metadata, err := addresses(c)
	if err != nil {
		return nil, err
	}
	k := &issuerKeys{
		client:   withoutRedirects(client),
		log:      log,
		warnings: rate.Sometimes{Interval: time.Second},
		issuer:   c.Issuer,
		metadata: metadata,
		fixed:    c.Keys,
		now:      wallClock,
		fetching: make(chan struct{}, 1),
		searches: rate.NewLimiter(rate.Every(2*time.Second), 3),
	}
	k.known.Store(&knownKeys{address: address})
	return k, nil
}

// wallClock returns the time without the monotonic reading, which stops while the process
// is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// age returns how long ago t was, and more than any limit for the zero time. If the clock
// has been set back, it returns how far t is in the future: with an age of zero, a
// withdrawn key would live on until the clock has caught up.
func (k *issuerKeys) age(t time.Time) time.Duration { return k.now().Sub(t).Abs() }

// current returns keys that are less than a day old and, if the issuer responds, less
// than an hour.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	known := k.known.Load()
	age := k.age(known.fetched)
	if age < refreshAfter {
		return known.set, nil
	}
	wait, pause := fetchTimeout, RetryAfter
	if age < expireAfter { // whoever has keys doesn't wait for another request
		wait, pause = 0, retryRefresh
	}
	err := errFetching
	if k.lock(ctx, wait) {
		defer k.unlock()
		known = k.known.Load()
		if k.age(known.fetched) >= refreshAfter && k.age(known.failed) >= pause {
			known = k.fetch(context.WithoutCancel(ctx))
		}
		err = known.err
	}
	if k.age(known.fetched) >= expireAfter {
		return nil, unavailable(err)
	}
	return known.set, nil
}

// search looks for keys other than rejected, which don't verify a token. It returns nil if
// there are none, or if the budget is spent, and an error if they can't be fetched.
//
// The issuer may have published a key during a fetch. So search trusts only a fetch that
// began after the request arrived, when begunBefore fetches had begun, or else makes one.
func (k *issuerKeys) search(ctx context.Context, rejected *KeySet, begunBefore int64) (*KeySet, error) {
	if k.fixed != nil {
		return nil, nil
	}
	known := k.known.Load()
	if known.set == rejected && known.number <= begunBefore {
		if !k.lock(ctx, fetchTimeout) {
			return nil, errFetching
		}
		defer k.unlock()
		known = k.known.Load()
		if known.set == rejected && known.number <= begunBefore && k.age(known.failed) >= RetryAfter && k.searches.AllowN(k.now(), 1) {
			known = k.fetch(context.WithoutCancel(ctx))
		}
	}
	if known.set == rejected {
		return nil, known.err
	}
	return known.set, nil
}

// load fetches the keys, or waits for the fetch of another request, until ctx ends. It
// returns an error if there are no keys from that fetch, even if there are older ones.
func (k *issuerKeys) load(ctx context.Context) error {
	if k.fixed != nil {
		return nil
	}
	before := k.known.Load()
	if !k.lock(ctx, fetchTimeout) {
		return unavailable(errFetching)
	}
	defer k.unlock()
	known := k.known.Load()
	if known == before {
		known = k.fetch(ctx)
	}
	if known.err != nil {
		return unavailable(known.err)
	}
	return nil
}

// unavailable returns an ErrKeysUnavailable, and no other error: one of a context would
// mean that the request has run out of time. Without an err, the keys have expired during
// a fetch of them, for example while the machine was asleep.
func unavailable(err error) error {
	if err == nil {
		err = errOutdated
	}
	return fmt.Errorf("%w: %v", ErrKeysUnavailable, err)
}

// lock waits until no other request fetches, ctx ends or the limit is over. It reports
// whether it is the caller's turn. Then the caller must look again whether a fetch is
// needed, and call unlock.
func (k *issuerKeys) lock(ctx context.Context, limit time.Duration) bool {
	select {
	case k.fetching <- struct{}{}:
		return true
	default: // a limit of zero ends here: the select below would choose at random
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case k.fetching <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (k *issuerKeys) unlock() { <-k.fetching }

// fetch fetches the keys, until ctx ends, and returns what is known then. It must be
// called with the lock.
func (k *issuerKeys) fetch(ctx context.Context) *knownKeys {
	next, began := *k.known.Load(), k.now()
	next.number = k.begun.Add(1)
	var set *KeySet
	next.address, set, next.err = k.read(ctx, next.address)
	switch {
	case next.err == nil:
		next.fetched = began
		if next.set == nil || next.set.document != set.document { // else the cache of tokens stays valid
			next.set = set
		}
	case ctx.Err() == nil:
		// The issuer is at fault. If a start has ended its own fetch, the issuer may be well,
		// and a pause of 5 s would make the first requests fail.
		next.failed = k.now()
	}
	if next.err != nil {
		k.warn("token keys not fetched", next.err)
	}
	k.known.Store(&next)
	return &next
}
