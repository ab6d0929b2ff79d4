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
//	keys                       a request starts a fetch            and waits until it has taken
//	none, or a day old         5 s after the last one began        3 s
//	an hour old                30 s after the last one ended       1 s
//	don't verify the token     3 times at once, then every 2 s     1 s
//
// One fetch runs at a time, and all requests that need one wait for it. After that
// they use the keys at hand. The fetch goes on even if nobody waits any more.
type issuerKeys struct {
	fixed    *KeySet // never fetched; or nil
	client   *http.Client
	log      *slog.Logger
	warnings rate.Sometimes // anybody can cause a fetch
	issuer   string         // that the metadata must name
	metadata []string       // where it may be; empty if the source is configured
	scopes   serviceScopes  // that the metadata may name

	mu       sync.Mutex // await, idle and failure must be called with it
	set      *KeySet
	fetched  time.Time // when the fetch of set began; zero without keys
	source   source    // configured, or found by a fetch
	running  *fetch    // nil between fetches
	began    time.Time // of the last fetch
	ended    time.Time
	err      error
	searches *rate.Limiter
}

// A source is what the issuer's metadata says.
type source struct {
	address string // of the keys; empty until it is known
	scoped  bool   // whether the issuer has scopes of this service
}

// A fetch reads the keys of an issuer.
type fetch struct {
	deadline time.Time     // of the document that it is reading
	done     chan struct{} // closed when it ends
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour
	loadWait     = 3 * time.Second // without keys
	fetchWait    = time.Second
)

// load fetches the keys and waits until ctx ends.
func (k *issuerKeys) load(ctx context.Context) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.await(ctx, true, time.Hour)
	return k.set, k.failure()
}

// current returns keys that are less than a day old and, if the issuer responds in
// time, less than an hour.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch now := wallClock(); {
	case now.Sub(k.fetched) >= expireAfter:
		k.await(ctx, elapsed(k.began, now, 5*time.Second), loadWait)
	case elapsed(k.fetched, now, refreshAfter):
		k.await(ctx, elapsed(k.ended, now, 30*time.Second), fetchWait)
	}
	if wallClock().Sub(k.fetched) >= expireAfter {
		return nil, cmp.Or(k.failure(), ErrKeysUnavailable)
	}
	return k.set, nil
}

// newer returns other keys than those that don't verify a token, unless a fetch after
// the request arrived found none. Then it returns rejected, with an error if the fetch
// failed or goes on.
func (k *issuerKeys) newer(ctx context.Context, rejected *KeySet, arrived time.Time) (*KeySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == rejected && !k.ended.After(arrived) {
		now := wallClock()
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
	now := wallClock()
	if due && k.idle(now) {
		k.began, k.running = now, &fetch{now.Add(fetchTimeout), make(chan struct{})}
		go k.run(k.running, k.source)
	}
	f := k.running
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(limit, limit-now.Sub(k.began)))
	defer cancel()
	k.mu.Unlock()
	defer k.mu.Lock()
	select {
	case <-f.done:
	case <-ctx.Done():
	}
}

// idle reports whether no fetch is running, or only one that was frozen until its time
// was up.
func (k *issuerKeys) idle(now time.Time) bool {
	return k.running == nil || now.After(k.running.deadline)
}

// failure returns why the last fetch brought no keys, or nil.
func (k *issuerKeys) failure() error {
	switch {
	case k.running != nil:
		return fmt.Errorf("%w: still being fetched", ErrKeysUnavailable)
	case k.err != nil:
		return fmt.Errorf("%w: %v", ErrKeysUnavailable, k.err)
	}
	return nil
}

// run runs f from start to end.
func (k *issuerKeys) run(f *fetch, known source) {
	defer close(f.done)
	err := k.fetch(f, known)
	k.client.CloseIdleConnections() // the next fetch may be an hour away
	if err != nil {
		k.warnings.Do(func() { k.log.Warn("token keys not fetched", "cause", err.Error()) })
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == f {
		k.running, k.ended, k.err = nil, wallClock(), err
	}
}

// fetch publishes the keys at the known address, if any. It reads the metadata each
// time, since an issuer may move its keys or add scopes, but not first: rotated keys
// don't have to wait for it.
func (k *issuerKeys) fetch(f *fetch, known source) (err error) {
	var keys *KeySet
	if known.address != "" {
		keys, err = read(k, f, known.address, ParseKeySet)
		k.publish(f, known, keys)
	}
	if len(k.metadata) == 0 {
		return err
	}
	found, metadataErr := k.readMetadata(f)
	if metadataErr != nil || found == known {
		return cmp.Or(err, metadataErr)
	}
	if found.address != known.address {
		keys, err = read(k, f, found.address, ParseKeySet)
	}
	k.publish(f, found, keys)
	return err
}

// publish sets the source and the keys, if any, unless another fetch has replaced f.
func (k *issuerKeys) publish(f *fetch, s source, keys *KeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == f {
		k.source = s
		if keys != nil {
			k.set, k.fetched = &KeySet{keys.keys, s.scoped}, k.began
		}
	}
}

// wallClock has no monotonic reading, which may stop while the program is frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// elapsed reports whether d has passed since t. A t in the future was read from
// a wrong clock and counts as long ago, so that it can't postpone a fetch.
func elapsed(t, now time.Time, d time.Duration) bool {
	age := now.Sub(t)
	return age < 0 || age >= d
}
