package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// issuerKeys are the keys of an issuer, fixed or fetched from it. Requests start
// fetches and wait for them: between requests the program may be frozen, as on AWS
// Lambda, so a fetch that nobody waits for may never end.
//
// The keys at hand decide when a request starts a fetch, and how long it waits, counted
// from the start of the fetch or of the request, whichever was earlier:
//
//	keys at hand              starts a fetch                           waits
//	none, or a day old        5 s after the start of the last one      3 s
//	an hour old               30 s after the start of the last one     1 s
//	don't verify the token    if the budget allows: three at once,     1 s
//	                          then one every 2 s
//
// Then the request uses the keys at hand, unless they are a day old. The fetch goes on even if nobody waits for it.
//
// A fetch has up to three steps: it reads the keys; then the metadata, since the issuer
// may have moved its keys; and after a move the keys again. If their
// address is unknown, it begins with the metadata. A request waits for the fetch that is
// running, rather than starting another. Only a token that the keys don't verify starts
// one while the metadata is being read: metadata that hangs must not hide a new key.
type issuerKeys struct {
	client   *http.Client
	log      *slog.Logger
	warnings rate.Sometimes // anybody can cause a fetch
	issuer   string         // that the metadata must name
	metadata []string       // where it may be; empty if the source is configured
	fixed    bool           // the keys are configured, and never fetched

	mu           sync.Mutex // for what follows; methods that say so must be called with it
	clock        clock
	set          *KeySet       // nil without keys
	fetched      time.Time     // when set was requested
	address      string        // of the keys: configured, or found by a fetch; empty until it is known
	fetchBegan   time.Time     // when the last fetch began; before the first, the zero time
	keyStep      *step         // the last one that read the keys
	metadataStep *step         // the last one that read the metadata
	metadataDue  bool          // the next step of the fetch reads the metadata
	changed      chan struct{} // closed, and replaced, when a step ends
	searches     *rate.Limiter // of fetches for tokens that the keys don't verify
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour
	retryRefresh = 30 * time.Second
	loadWait     = 3 * time.Second // without keys
	fetchWait    = time.Second
)

// newIssuerKeys returns the keys that c describes, but fetches none yet. Issuers have
// metadata (OpenID Connect Discovery 1.0, RFC 8414) or, as the user pools of Amazon
// Cognito, a known address.
func newIssuerKeys(c Config, client *http.Client, log *slog.Logger) (*issuerKeys, error) {
	k := &issuerKeys{
		client:       withLimits(client),
		log:          log,
		issuer:       c.Issuer,
		fixed:        c.Keys != nil,
		set:          c.Keys,
		address:      c.KeysURL,
		clock:        newClock(),
		keyStep:      &step{ended: true},
		metadataStep: &step{ended: true},
		changed:      make(chan struct{}),
		searches:     rate.NewLimiter(rate.Every(2*time.Second), 3),
		warnings:     rate.Sometimes{Interval: time.Second},
	}
	if c.Keys != nil || c.KeysURL != "" {
		return k, nil
	}
	u, err := url.Parse(c.Issuer)
	if err != nil {
		return nil, err
	}
	if isCognito(u) {
		k.address = c.Issuer + "/.well-known/jwks.json"
		return k, nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	k.metadata = []string{
		origin + path + "/.well-known/openid-configuration",
		origin + "/.well-known/oauth-authorization-server" + path, // RFC 8414 section 3.1
	}
	return k, nil
}

// isCognito reports whether an issuer is a user pool.
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
func isCognito(issuer *url.URL) bool {
	host := strings.TrimSuffix(issuer.Host, ".cn")
	return strings.HasPrefix(host, "cognito-idp.") && strings.HasSuffix(host, ".amazonaws.com")
}

// load starts a fetch, unless one is running, and waits until it or ctx ends. It returns
// an error if the fetch failed or goes on, even if there are keys from an earlier one.
func (k *issuerKeys) load(ctx context.Context) error {
	if k.fixed {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.idle() {
		k.start(k.clock.now())
	}
	k.await(ctx, k.idle)
	if err := k.fetchError(); err != nil {
		return fmt.Errorf("%w: %v", ErrKeysUnavailable, err)
	}
	return nil
}

// current returns keys that are less than a day old and, if the issuer responds in
// time, less than an hour. They are for a request that arrived at the given time.
func (k *issuerKeys) current(ctx context.Context, arrived time.Time) (*KeySet, error) {
	if k.fixed {
		return k.set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.now()
	switch {
	case k.expired(now):
		k.refresh(ctx, now, arrived, RetryAfter, loadWait)
	case now.Sub(k.fetched) >= refreshAfter:
		k.refresh(ctx, now, arrived, retryRefresh, fetchWait)
	}
	if k.expired(now) {
		return nil, fmt.Errorf("%w: %v", ErrKeysUnavailable, k.fetchError())
	}
	return k.set, nil
}

// expired reports whether there are no keys, or only keys that are too old. It must be
// called with k.mu.
func (k *issuerKeys) expired(now time.Time) bool {
	return k.set == nil || now.Sub(k.fetched) >= expireAfter
}

// refresh starts a fetch if none is running and the last one began at least an interval
// ago. Then it waits until the fetch ends, or it or the request is older than wait. It
// waits for the metadata too: if the program is frozen after each request, it would never
// be read otherwise. It must be called with k.mu.
func (k *issuerKeys) refresh(ctx context.Context, now, arrived time.Time, interval, wait time.Duration) {
	if now.Sub(k.fetchBegan) >= interval && k.idle() {
		k.start(now)
	}
	ctx, cancel := k.withLimit(ctx, now, arrived, wait)
	defer cancel()
	k.await(ctx, k.idle)
}

// search starts a fetch for a token that the keys at hand don't verify. It starts none
// while keys are being read, since waiting for these is free, nor when the budget is
// spent. The context is for awaitNewer: it ends when the last fetch or the request is a
// second old.
func (k *issuerKeys) search(ctx context.Context, arrived time.Time) (context.Context, context.CancelFunc) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.now()
	if !k.keyStep.running(now) && k.searches.AllowN(now, 1) {
		k.start(now)
	}
	return k.withLimit(ctx, now, arrived, fetchWait)
}

// withLimit returns a context that ends when the last fetch or the request is older than
// wait. A request may wait more than once. It must be called with k.mu.
func (k *issuerKeys) withLimit(ctx context.Context, now, arrived time.Time, wait time.Duration) (context.Context, context.CancelFunc) {
	age := max(now.Sub(k.fetchBegan), time.Since(arrived))
	return context.WithTimeout(ctx, wait-age)
}

// awaitNewer waits for other keys than the rejected ones, until the fetch or ctx ends. If
// it gets none, it returns nil, or an error if the fetch failed or goes on.
func (k *issuerKeys) awaitNewer(ctx context.Context, rejected *KeySet) (*KeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.await(ctx, func() bool { return k.set != rejected || k.idle() })
	if k.set == rejected {
		return nil, k.fetchError()
	}
	return k.set, nil
}

// await waits until done returns true or ctx ends. It must be called with k.mu, and
// unlocks it meanwhile.
func (k *issuerKeys) await(ctx context.Context, done func() bool) {
	for !done() && ctx.Err() == nil {
		changed := k.changed
		k.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		k.mu.Lock()
	}
}

// fetchError returns an error if a fetch goes on or the last one got no keys: then the
// issuer may have other keys than those at hand. It must be called with k.mu.
func (k *issuerKeys) fetchError() error {
	switch {
	case !k.keyStep.ended || !k.metadataStep.ended:
		return errors.New("still being fetched")
	case k.address == "":
		return k.metadataStep.err
	default:
		return k.keyStep.err
	}
}
