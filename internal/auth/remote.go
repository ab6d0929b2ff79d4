package auth

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
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

	mu       sync.Mutex // await, idle and failure must be called with it
	set      *KeySet
	fetched  time.Time     // when the fetch of set began; zero without keys
	source   source        // configured, or found by a fetch
	running  chan struct{} // closed when the running fetch ends; nil between fetches
	began    time.Time     // of the last fetch, as are ended and err
	ended    time.Time
	err      error
	searches *rate.Limiter // of fetches for tokens that the keys don't verify
}

// A source is what the issuer's metadata says.
type source struct {
	address string // of the keys; empty until it is known
	scoped  bool   // whether the issuer has scopes of this service
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour
	loadWait     = 3 * time.Second // without keys
	fetchWait    = time.Second
)

// load fetches the keys and waits until ctx ends.
func (k *issuerKeys) load(ctx context.Context) (*KeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.await(ctx, true, time.Hour) // ctx ends first
	return k.set, k.failure()
}

// current returns keys that are less than a day old and, if the issuer responds in
// time, less than an hour.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fixed {
		return k.set, nil
	}
	now := wallClock()
	sinceLast := now.Sub(k.began).Abs() // a clock that was set back doesn't postpone a fetch
	switch age := now.Sub(k.fetched); {
	case age >= expireAfter:
		k.await(ctx, sinceLast >= 5*time.Second, loadWait)
	case age.Abs() >= refreshAfter:
		k.await(ctx, sinceLast >= 30*time.Second, fetchWait)
	}
	if now.Sub(k.fetched) >= expireAfter {
		return nil, k.failure() // not nil: the fetch goes on or has failed
	}
	return k.set, nil
}

// newer returns keys other than rejected, which don't verify a token. Without such
// keys, it returns rejected, with an error if the fetch failed or goes on. If a fetch
// has ended since the request arrived, it starts no other.
func (k *issuerKeys) newer(ctx context.Context, rejected *KeySet, arrived time.Time) (*KeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == rejected && !k.ended.After(arrived) {
		now := wallClock()
		// To join a running fetch is free.
		k.await(ctx, k.idle(now) && k.searches.AllowN(now, 1), fetchWait)
	}
	if k.set == rejected {
		return rejected, k.failure()
	}
	return k.set, nil
}

// await starts a fetch if one is due and none is running. It waits until the running
// one, if any, ends or has taken limit, or ctx ends. It unlocks k.mu meanwhile.
func (k *issuerKeys) await(ctx context.Context, due bool, limit time.Duration) {
	if now := wallClock(); due && k.idle(now) {
		k.began, k.running = now, make(chan struct{})
		go k.run(k.running, k.source)
	}
	done := k.running
	if done == nil {
		return
	}
	// The minimum counts if the clock was set back.
	ctx, cancel := context.WithTimeout(ctx, min(limit, limit-wallClock().Sub(k.began)))
	defer cancel()
	k.mu.Unlock()
	defer k.mu.Lock()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// idle reports whether a fetch may start. One that has taken longer than its four
// documents can (keys, metadata at two addresses, keys elsewhere) was frozen with the
// program, and is no longer waited for.
func (k *issuerKeys) idle(now time.Time) bool {
	return !k.fixed && (k.running == nil || now.Sub(k.began) > 4*fetchTimeout)
}

// failure returns why the last fetch brought no keys, or nil.
func (k *issuerKeys) failure() error {
	switch {
	case k.running != nil:
		return fmt.Errorf("%w: still being fetched", ErrKeysUnavailable)
	case k.err != nil && !k.fetched.Equal(k.began):
		return fmt.Errorf("%w: %v", ErrKeysUnavailable, k.err)
	}
	return nil
}

// run runs a fetch, and closes done at its end.
func (k *issuerKeys) run(done chan struct{}, known source) {
	defer close(done)
	err := k.fetch(done, known)
	k.client.CloseIdleConnections() // the next fetch may be an hour away
	if err != nil {
		k.warnings.Do(func() { k.log.Warn("token keys not fetched", "cause", err.Error()) })
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == done {
		k.running, k.ended, k.err = nil, wallClock(), err
	}
}

// fetch reads the keys at the known address, if any, and then the metadata, since an
// issuer may move its keys or add scopes. In this order, rotated keys don't have to
// wait for the metadata.
func (k *issuerKeys) fetch(done chan struct{}, known source) (err error) {
	if known.address != "" {
		err = k.readKeys(done, known)
	}
	if len(k.metadata) == 0 {
		return err
	}
	found, metadataErr := k.readMetadata()
	if metadataErr != nil || found == known {
		return cmp.Or(err, metadataErr)
	}
	return k.readKeys(done, found)
}

// readKeys reads the keys of s for a fetch. It publishes s and the keys unless another
// fetch has replaced this one.
func (k *issuerKeys) readKeys(done chan struct{}, s source) error {
	keys, err := read(k.client, s.address, ParseKeySet)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == done {
		k.source = s
		if err == nil {
			keys.scoped = s.scoped
			k.set, k.fetched = keys, k.began
		}
	}
	return err
}

// wallClock has no monotonic reading, which may stop while the program is frozen.
func wallClock() time.Time { return time.Now().Round(0) }
