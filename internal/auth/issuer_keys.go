package auth

import (
	"cmp"
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
//   - While the issuer responds, a withdrawn key is rejected within an hour. When the keys
//     are an hour old, one request fetches them again. The others don't wait.
//   - A new key works within 5 s and a fetch. If the known keys don't verify a token, its
//     request fetches them again, or waits for another request's fetch.
//   - Made-up tokens don't flood the issuer. They cause a fetch every 5 s, and tokens signed
//     by known keys never wait for it.
//   - While the issuer is down, its keys are used until they are a day old. Without keys,
//     requests get ErrKeysUnavailable, and one request tries again every 5 s.
type issuerKeys struct {
	client      *http.Client
	log         *slog.Logger
	issuer      string           // the metadata must name it
	metadataURL string           // empty if metadata isn't needed
	fixed       *KeySet          // configured keys, or nil to fetch them
	now         func() time.Time // wallClock, except in tests

	known    atomic.Pointer[knownKeys]
	fetching chan struct{} // a lock: full during a fetch
}

// knownKeys is what is known after a fetch. It is immutable; the next fetch replaces it.
type knownKeys struct {
	keysURL string  // empty if unknown
	set     *KeySet // nil without keys

	// When the fetch of set began, by two clocks; the zero times without keys.
	fetchedWall, fetchedMono time.Time

	ended time.Time // when the last fetch ended; the zero time before the first
	err   error     // of the last fetch
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour

	// retryRefresh is the pause after a failed refresh of keys that are still usable. An
	// issuer that hangs would delay too many requests after the shorter [RetryAfter].
	retryRefresh = 30 * time.Second
)

var (
	errFetching = errors.New("still being fetched")
	errOutdated = errors.New("outdated: they expired during their own fetch") // for example, while the machine was asleep
)

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
		now:         wallClock,
		fetching:    make(chan struct{}, 1),
	}
	k.known.Store(&knownKeys{keysURL: keysURL})
	return k, nil
}

// wallClock returns the time without its monotonic reading, which stops while the process
// is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// age returns how long ago a fetch began or ended, at t. For the zero time, that exceeds every
// limit. If the clock was set back, t is in the future, and nobody knows how long ago it was. Then
// age returns refreshAfter, so that the keys are fetched at once: otherwise a withdrawn key would
// remain valid until the clock caught up.
func (k *issuerKeys) age(t time.Time) time.Duration {
	age := k.now().Sub(t)
	if age < 0 {
		return refreshAfter
	}
	return age
}

// keysAge returns how long ago the fetch of the keys began. Either clock may show less: the wall
// clock if it was set back, and the monotonic clock if the process was frozen.
func (k *issuerKeys) keysAge(known *knownKeys) time.Duration {
	return max(k.age(known.fetchedWall), time.Since(known.fetchedMono))
}

// current returns keys that are less than a day old, or ErrKeysUnavailable. When they are an hour
// old, one call fetches new ones. Meanwhile other calls return the old ones, or wait if there are
// none.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	known := k.known.Load()
	age, lastErr := k.keysAge(known), known.err
	if age < refreshAfter {
		return known.set, nil
	}
	pause, expired := RetryAfter, age >= expireAfter
	if lastErr != nil && !expired {
		pause = retryRefresh
	}
	if k.age(known.ended) >= pause {
		known, lastErr = k.refresh(ctx, known, expired)
	}
	if k.keysAge(known) >= expireAfter {
		// It doesn't wrap lastErr: an error of a context would mean that the request has run out of time.
		return nil, fmt.Errorf("%w: %v", ErrKeysUnavailable, cmp.Or(lastErr, errOutdated))
	}
	return known.set, nil
}

// newerThan returns keys other than rejected, which don't verify a token. It fetches them, or
// waits for another call that does. It returns nil if the issuer has no others, and an error if
// that is unknown.
func (k *issuerKeys) newerThan(ctx context.Context, rejected *KeySet) (*KeySet, error) {
	if k.fixed != nil {
		return nil, nil
	}
	known := k.known.Load()
	lastErr := known.err
	if known.set == rejected && k.age(known.ended) >= RetryAfter {
		known, lastErr = k.refresh(ctx, known, true)
	}
	if known.set == rejected {
		return nil, lastErr
	}
	return known.set, nil
}

// refresh fetches the keys, unless another request has done so since the caller loaded seen. While
// another request is fetching them, refresh waits or, without wait, returns seen.
func (k *issuerKeys) refresh(ctx context.Context, seen *knownKeys, wait bool) (*knownKeys, error) {
	if !k.lock(ctx, wait) {
		return seen, errFetching
	}
	defer k.unlock()
	known := k.known.Load()
	if known == seen {
		known = k.fetch(context.WithoutCancel(ctx)) // it serves all requests, even if this client disconnects
	}
	return known, known.err
}

// load fetches the keys until ctx ends. It returns an error if that fails, even if older
// keys are known.
func (k *issuerKeys) load(ctx context.Context) error {
	if k.fixed != nil {
		return nil
	}
	if !k.lock(ctx, true) {
		return errFetching
	}
	defer k.unlock()
	return k.fetch(ctx).err
}

// lock reports whether the caller has the lock, and so must call unlock. If another has it,
// lock gives up at once or, with wait, when ctx ends.
func (k *issuerKeys) lock(ctx context.Context, wait bool) bool {
	select {
	case k.fetching <- struct{}{}:
		return true
	default: // the select below alone would choose at random if ctx has ended
	}
	if !wait {
		return false
	}
	select {
	case k.fetching <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (k *issuerKeys) unlock() { <-k.fetching }

// fetch fetches the keys and returns what is known then. The caller must hold the lock. If
// ctx ends, as it may during a start, that doesn't count as a fetch: the issuer may only be
// slow, and after a pause of 5 s the first requests would fail.
func (k *issuerKeys) fetch(ctx context.Context) *knownKeys {
	next, wall, mono := *k.known.Load(), k.now(), time.Now()
	var set *KeySet
	next.keysURL, set, next.err = k.download(ctx, next.keysURL)
	next.ended = k.now()
	if next.err != nil {
		k.log.Warn("token keys not fetched", "cause", next.err.Error())
		if ctx.Err() != nil {
			return &next
		}
	} else {
		next.fetchedWall, next.fetchedMono = wall, mono
		if next.set == nil || next.set.document != set.document { // else keep the set, so that the cached tokens stay valid
			next.set = set
		}
	}
	k.known.Store(&next)
	return &next
}
