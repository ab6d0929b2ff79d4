package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// The timing of a [RemoteKeySet].
const (
	waitTimeout  = time.Second      // for a request or the start of a program
	fetchTimeout = 5 * time.Second  // for one fetch, redirects and body included
	refreshAfter = time.Hour        // age at which keys are fetched again
	expireAfter  = 24 * time.Hour   // age at which keys are dropped if every refresh fails
	searchEvery  = 10 * time.Second // for one more search, see searchBurst
	retryEvery   = 30 * time.Second // between fetches after a failed refresh
	loadEvery    = 5 * time.Second  // between fetches while there are no keys
)

// searchBurst is how many searches, fetches for newer keys, are allowed at once.
// Since every fetch finds them, not even a flood of made-up kids delays a new key
// for more than searchEvery.
const searchBurst = 3

// A RemoteKeySet is the key set that an issuer publishes at a URL. It is safe
// for concurrent use.
//
// Fetches are started only by requests, one at a time: no goroutine runs between
// requests, when the program may be frozen. A token that the present keys verify
// never waits: if they are older than an hour, it starts a fetch for others. A
// token with an unknown kid or a wrong signature waits for a fetch; there are at
// most three such fetches at once, and one more every 10 seconds. If a fetch
// fails, the present keys remain in use, for up to 24 hours.
//
// While there are no keys, every token waits for a fetch, unless one failed in
// the last 5 seconds. A fetch may take 5 seconds. No token waits for longer than
// one second; it then ends in ErrKeysUnavailable, as it does if the fetch fails.
type RemoteKeySet struct {
	// OnFailure, if not nil, is called with the error of each failed fetch. Set
	// it before first use. It may be called from any goroutine.
	OnFailure func(error)

	client   *http.Client
	issuer   string   // whose metadata has the address; empty if that is known
	metadata []string // addresses of the metadata
	address  string   // of the keys; empty until discovered; used by one fetch at a time

	mu         sync.Mutex
	set        *keySet
	fetched    time.Time // start of the fetch that returned set; zero without one
	attempted  time.Time // end of the last fetch
	searches   time.Time // advances by searchEvery with each search, and is never in the future
	lastError  error     // of the last fetch
	inProgress *fetch    // nil between fetches
}

// A fetch has ended when done is closed; err is set before.
type fetch struct {
	done chan struct{}
	err  error
}

// RemoteKeys returns the keys at rawURL, without fetching them yet; see
// [RemoteKeySet.Load]. The scheme must be https or, for localhost, loopback
// addresses and host.docker.internal, http. Redirects must comply as well, and
// must not lead from https to http. If client is nil, a client with the default
// transport is used.
func RemoteKeys(rawURL string, client *http.Client) (*RemoteKeySet, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("the address of the issuer's keys is not a valid URL")
	}
	if err := checkURL(u); err != nil {
		return nil, fmt.Errorf("the address of the issuer's keys: %w", err)
	}
	return &RemoteKeySet{address: u.String(), client: restrict(client)}, nil
}

// Load fetches the keys, or waits for the fetch in progress, for at most a second.
// An error is not final: a fetch that takes longer goes on, and after one that
// failed the next request that needs a key tries again.
func (r *RemoteKeySet) Load(ctx context.Context) error {
	r.mu.Lock()
	f := r.start(wallClock())
	r.mu.Unlock()
	if err := wait(ctx, f); err != nil {
		return err
	}
	select {
	case <-f.done:
		return f.err
	default:
		return fmt.Errorf("the token issuer's keys have not arrived after %v", waitTimeout)
	}
}

func (r *RemoteKeySet) current(ctx context.Context) (*keySet, error) {
	set, f := r.lookUp()
	if set != nil {
		return set, nil
	}
	if err := wait(ctx, f); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if set = r.unexpired(wallClock()); set == nil {
		return nil, r.unavailable()
	}
	return set, nil
}

// lookUp returns the present keys, if any, and the fetch in progress, if any. It
// starts a fetch if one is due because of the keys' age or absence.
func (r *RemoteKeySet) lookUp() (*keySet, *fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := wallClock()
	set := r.unexpired(now)
	switch {
	case set == nil && elapsed(r.attempted, now, loadEvery):
		r.start(now)
	case set != nil && elapsed(r.fetched, now, refreshAfter) && elapsed(r.attempted, now, retryEvery):
		r.start(now)
	}
	return set, r.inProgress
}

func (r *RemoteKeySet) newer(ctx context.Context, old *keySet) (*keySet, error) {
	set, f := r.search(old)
	if set != old {
		return set, nil
	}
	if err := wait(ctx, f); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set == old && (r.inProgress != nil || r.lastError != nil) {
		return nil, r.unavailable()
	}
	return r.set, nil
}

// search returns the present keys and the fetch in progress, if any. It starts a
// fetch if there are no newer keys than old.
func (r *RemoteKeySet) search(old *keySet) (*keySet, *fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := wallClock(); r.set == old && r.inProgress == nil && r.maySearch(now) {
		r.start(now)
	}
	return r.set, r.inProgress
}

// maySearch counts a search if one is allowed. The caller must hold r.mu.
func (r *RemoteKeySet) maySearch(now time.Time) bool {
	if elapsed(r.searches, now, searchBurst*searchEvery) {
		r.searches = now.Add(-searchBurst * searchEvery)
	}
	if !elapsed(r.searches, now, searchEvery) {
		return false
	}
	r.searches = r.searches.Add(searchEvery)
	return true
}

// unavailable returns why there are no keys, or no newer ones. The caller must
// hold r.mu.
func (r *RemoteKeySet) unavailable() error {
	if r.inProgress != nil {
		return fmt.Errorf("%w: not fetched after %v yet", ErrKeysUnavailable, waitTimeout)
	}
	return fmt.Errorf("%w: %v", ErrKeysUnavailable, r.lastError) // which may match a context's error
}

// wait waits for f, which may be nil, but not for longer than waitTimeout.
func wait(ctx context.Context, f *fetch) error {
	if f == nil {
		return nil
	}
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	select {
	case <-f.done:
	case <-timeout.C:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the token issuer's keys: %w", ctx.Err())
	}
	return nil
}

// unexpired returns nil if there are no keys. The caller must hold r.mu.
func (r *RemoteKeySet) unexpired(now time.Time) *keySet {
	if now.Sub(r.fetched) >= expireAfter {
		return nil
	}
	return r.set
}

// start starts a fetch, unless one is in progress, and returns it. The fetch
// outlives the request that started it. The caller must hold r.mu.
func (r *RemoteKeySet) start(now time.Time) *fetch {
	if r.inProgress != nil {
		return r.inProgress
	}
	f := &fetch{done: make(chan struct{})}
	r.inProgress = f
	go func() {
		set, err := r.fetch()
		if err != nil && r.OnFailure != nil {
			r.OnFailure(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			r.set, r.fetched = set, now
		}
		r.inProgress, r.attempted, r.lastError = nil, wallClock(), err
		f.err = err
		close(f.done)
	}()
	return f
}

func (r *RemoteKeySet) fetch() (set *keySet, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	if r.address == "" {
		r.address, err = r.discover(ctx)
	}
	if err == nil {
		set, err = getKeySet(ctx, r.client, r.address)
	}
	if err != nil {
		if r.issuer != "" {
			r.address = ""
		}
		return nil, fmt.Errorf("fetching the token issuer's keys: %w", err)
	}
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
