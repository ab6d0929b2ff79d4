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

// issuerKeys holds the keys of an issuer, configured or fetched. Requests fetch the keys
// themselves and wait up to 3 s, because AWS Lambda freezes the process between requests.
// One request fetches at a time. There are four promises:
//
//   - While the issuer responds, a withdrawn key is rejected within an hour. When the keys
//     are an hour old, one request fetches them again. The others don't wait.
//   - A new key works at once. If the known keys don't verify a token, its request fetches
//     them again, or waits for a fetch that began after the request arrived.
//   - Made-up tokens don't flood the issuer. They can cause a burst of three fetches, then
//     one every 2 s; while they do, a new key may take as long. Tokens signed by known keys
//     never wait for these fetches.
//   - While the issuer is down, its keys are used until they are a day old. Without keys,
//     requests get ErrKeysUnavailable, and one request tries again every 5 s.
type issuerKeys struct {
	client      *http.Client
	log         *slog.Logger
	warnings    rate.Sometimes   // limited, since anybody can cause a fetch
	issuer      string           // the metadata must name it
	metadataURL string           // empty if metadata isn't needed
	fixed       *KeySet          // configured keys, or nil to fetch them
	now         func() time.Time // wallClock, except in tests

	known    atomic.Pointer[knownKeys]
	begun    atomic.Int64  // how many fetches have begun
	fetching chan struct{} // a lock: full during a fetch
	searches *rate.Limiter // limits the fetches for tokens that the known keys don't verify
}

// knownKeys is what is known after a fetch. It is immutable; the next fetch replaces it.
type knownKeys struct {
	number  int64     // of the fetch, from 1
	keysURL string    // empty if unknown
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

// newIssuerKeys returns the keys that c describes. It doesn't fetch them yet.
func newIssuerKeys(c Config, client *http.Client, log *slog.Logger) (*issuerKeys, error) {
	keysURL, metadataURL, err := addresses(c)
	if err != nil {
		return nil, err
	}
	k := &issuerKeys{
		client:      withoutRedirects(client),
		log:         log,
		warnings:    rate.Sometimes{Interval: time.Second},
		issuer:      c.Issuer,
		metadataURL: metadataURL,
		fixed:       c.Keys,
		now:         wallClock,
		fetching:    make(chan struct{}, 1),
		searches:    rate.NewLimiter(rate.Every(2*time.Second), 3),
	}
	k.known.Store(&knownKeys{keysURL: keysURL})
	return k, nil
}

// wallClock returns the time without its monotonic reading, which stops while the process
// is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// age returns how long ago t was. For the zero time, that exceeds every limit. If the clock
// was set back, age returns how far t is in the future. If it returned zero, a withdrawn key
// would remain valid until the clock caught up.
func (k *issuerKeys) age(t time.Time) time.Duration { return k.now().Sub(t).Abs() }

// current returns keys that are less than a day old. When they are an hour old, one call
// fetches new keys, if the issuer responds. Until then other calls return the old ones.
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
	if age < expireAfter { // don't wait for another request's fetch
		wait, pause = 0, retryRefresh
	}
	err := errFetching
	if k.lock(ctx, wait) {
		defer k.unlock()
		known = k.known.Load()
		if k.age(known.fetched) >= refreshAfter && k.age(known.failed) >= pause {
			known = k.fetch(context.WithoutCancel(ctx)) // it serves all requests, even if this client disconnects
		}
		err = known.err
	}
	if k.age(known.fetched) >= expireAfter {
		return nil, unavailable(err)
	}
	return known.set, nil
}

// An arrival is when a request arrived: the number of the last fetch that had begun then. A
// fetch with a greater number sees every key that the issuer published before the arrival.
// Times couldn't tell: two may be equal, and the clock may be set.
type arrival int64

func (k *issuerKeys) arrival() arrival { return arrival(k.begun.Load()) }

// search looks for keys other than rejected, which don't verify a token. It returns nil if
// there are no others or the budget is spent, and an error if they can't be fetched. It
// relies on a fetch that began after the request arrived, or else fetches the keys.
func (k *issuerKeys) search(ctx context.Context, rejected *KeySet, arrived arrival) (*KeySet, error) {
	if k.fixed != nil {
		return nil, nil
	}
	mayLackKey := func(known *knownKeys) bool { return known.set == rejected && known.number <= int64(arrived) }
	known := k.known.Load()
	if mayLackKey(known) {
		if !k.lock(ctx, fetchTimeout) {
			return nil, errFetching
		}
		defer k.unlock()
		known = k.known.Load()
		if mayLackKey(known) && k.age(known.failed) >= RetryAfter && k.searches.AllowN(k.now(), 1) {
			known = k.fetch(context.WithoutCancel(ctx)) // as in current
		}
	}
	if known.set == rejected {
		return nil, known.err
	}
	return known.set, nil
}

// load fetches the keys until ctx ends. It returns an error if that fails, even if older
// keys are known.
func (k *issuerKeys) load(ctx context.Context) error {
	if k.fixed != nil {
		return nil
	}
	if !k.lock(ctx, fetchTimeout) {
		return unavailable(errFetching)
	}
	defer k.unlock()
	if known := k.fetch(ctx); known.err != nil {
		return unavailable(known.err)
	}
	return nil
}

// unavailable returns an ErrKeysUnavailable with the text of err. It doesn't wrap err: an
// error of a context would mean that the request has run out of time. If err is nil, the
// keys expired during a fetch, for example while the machine was asleep.
func unavailable(err error) error {
	if err == nil {
		err = errOutdated
	}
	return fmt.Errorf("%w: %v", ErrKeysUnavailable, err)
}

// lock waits until no other request fetches, and reports whether the caller has the lock.
// It gives up when ctx ends or the limit has passed. A caller with the lock must check
// again whether a fetch is needed, and call unlock.
func (k *issuerKeys) lock(ctx context.Context, limit time.Duration) bool {
	select {
	case k.fetching <- struct{}{}:
		return true
	default: // with a limit of zero, the select below alone would choose at random
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

// fetch fetches the keys until ctx ends, and returns what is known then. The caller must
// hold the lock.
func (k *issuerKeys) fetch(ctx context.Context) *knownKeys {
	next, began := *k.known.Load(), k.now()
	next.number = k.begun.Add(1)
	var set *KeySet
	next.keysURL, set, next.err = k.download(ctx, next.keysURL)
	switch {
	case next.err == nil:
		next.fetched = began
		if next.set == nil || next.set.document != set.document { // else keep the set, so that the cached tokens stay valid
			next.set = set
		}
	case ctx.Err() == nil:
		// The issuer is at fault. If ctx has ended instead, as it may during a start, the issuer
		// may be fine, and a pause of 5 s would make the first requests fail.
		next.failed = k.now()
	}
	if next.err != nil {
		k.warn("token keys not fetched", next.err)
	}
	k.known.Store(&next)
	return &next
}
