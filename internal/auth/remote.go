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

// When a [RemoteKeySet] fetches.
const (
	fetchTimeout   = time.Second      // for one fetch, from the first byte to the last
	freshFor       = time.Hour        // no fetch for a known kid before that age
	usableFor      = 24 * time.Hour   // then keys that couldn't be refreshed are dropped
	searchInterval = 30 * time.Second // between fetches for kids that aren't known
	retryInterval  = 30 * time.Second // between tries to refresh keys that are held
	emptyInterval  = 5 * time.Second  // between tries while no keys are held
)

// A RemoteKeySet is the key set that an issuer publishes at a URL.
//
// Keys are fetched only because of a request, one fetch at a time: nothing runs
// between requests, when the program may be frozen. A token whose kid is known
// never waits: if the keys are older than an hour, it starts a fetch and goes
// on with the keys that are held. A token with an unknown kid waits for a
// fetch, if there was none for that reason in the last 30 seconds; so do
// others that come meanwhile. A fetch takes a second at most. If it fails, the
// keys that are held stay, up to 24 hours.
//
// While no keys are held, each token waits for a fetch, if there was none in
// the last 5 seconds, and ends with ErrKeysUnavailable if there are still none.
//
// It is safe for concurrent use.
type RemoteKeySet struct {
	// OnFailure, if not nil, is called with the error of each fetch that
	// failed, for the log. It is set before first use, and may be called on any
	// goroutine.
	OnFailure func(error)

	url    string
	client *http.Client

	mu       sync.Mutex
	set      keySet
	fetched  time.Time // when the fetch of set began; zero if there is none
	tried    time.Time // when the last fetch began
	searched time.Time // when the last fetch for an unknown kid began
	failure  error     // of the last fetch
	current  *fetch    // nil if none is under way
}

// A fetch is under way until done is closed; err is set before that.
type fetch struct {
	done chan struct{}
	err  error
}

// RemoteKeys returns the keys at rawURL, an https URL; plain http is allowed for
// localhost, loopback addresses and host.docker.internal. Nothing is fetched
// yet, see [RemoteKeySet.Load]. A nil client means a new one with the default
// transport. Redirects are followed only to where rawURL might have pointed
// itself, and never from https to http.
func RemoteKeys(rawURL string, client *http.Client) (*RemoteKeySet, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("the address of the issuer's keys is not a URL")
	}
	if err := checkURL(u); err != nil {
		return nil, err
	}
	if client == nil {
		client = &http.Client{}
	}
	own := *client
	own.CheckRedirect = checkRedirect
	return &RemoteKeySet{url: u.String(), client: &own}, nil
}

// Load fetches the keys now, or waits for the fetch that is under way. It is
// meant for the start of a program, and takes a second at most. After an error
// the RemoteKeySet can be used all the same: it tries again when a token needs
// a key.
func (r *RemoteKeySet) Load(ctx context.Context) error {
	r.mu.Lock()
	f := r.begin(wallClock())
	r.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return fmt.Errorf("fetching the token issuer's keys: %w", ctx.Err())
	}
}

func (r *RemoteKeySet) find(ctx context.Context, kid, alg string) (*key, error) {
	set, wait := r.lookUp(kid)
	if wait != nil {
		select {
		case <-wait.done:
			set = r.held()
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the token issuer's keys: %w", ctx.Err())
		}
	}
	if set == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		return nil, fmt.Errorf("%w: %v", ErrKeysUnavailable, r.failure)
	}
	return set.find(kid, alg)
}

// lookUp returns the keys that are held, and the fetch that a token with this
// kid has to wait for, nil if none. It begins that fetch if it is time for it.
func (r *RemoteKeySet) lookUp(kid string) (keySet, *fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := wallClock()
	set := r.heldAt(now)
	switch {
	case set == nil:
		if elapsed(r.tried, now, emptyInterval) {
			r.begin(now)
		}
		return nil, r.current
	case set.has(kid):
		if elapsed(r.fetched, now, freshFor) && elapsed(r.tried, now, retryInterval) {
			r.begin(now)
		}
		return set, nil
	default:
		if r.current == nil && elapsed(r.searched, now, searchInterval) {
			r.searched = now
			r.begin(now)
		}
		return set, r.current
	}
}

// held returns the keys that may be used now, nil if there are none.
func (r *RemoteKeySet) held() keySet {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heldAt(wallClock())
}

func (r *RemoteKeySet) heldAt(now time.Time) keySet {
	if now.Sub(r.fetched) >= usableFor {
		return nil
	}
	return r.set
}

// begin starts a fetch, unless one is under way, and returns it. It belongs to
// no request: whose context ends only stops waiting. r.mu is held.
func (r *RemoteKeySet) begin(now time.Time) *fetch {
	if r.current != nil {
		return r.current
	}
	f := &fetch{done: make(chan struct{})}
	r.current, r.tried = f, now
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
		r.current, r.failure = nil, err
		f.err = err
		close(f.done)
	}()
	return f
}

func (r *RemoteKeySet) fetch() (keySet, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	set, err := getKeySet(ctx, r.client, r.url)
	if err != nil {
		return nil, fmt.Errorf("fetching the token issuer's keys: %w", err)
	}
	return set, nil
}

// wallClock returns the time without the monotonic reading, which may stand
// still while the program is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// elapsed reports whether d has passed since t. A t in the future comes from a
// clock that was wrong then, and counts as long ago: it must not put off a
// fetch for ever.
func elapsed(t, now time.Time, d time.Duration) bool {
	age := now.Sub(t)
	return age < 0 || age >= d
}
