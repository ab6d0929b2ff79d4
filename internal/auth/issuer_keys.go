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

// issuerKeys are the keys of an issuer, fixed or fetched from it. They are fetched inside
// a request, which waits until the fetch ends, 3 s at most: between requests the program
// may be frozen, as on AWS Lambda. Only one fetch runs at a time. While none is running,
// a request starts one if it needs to; else it waits for that one. Both depend on the keys
// at hand:
//
//	keys at hand              starts a fetch                          waits for another's
//	none, or a day old        if none failed in the last 5 s          3 s at most
//	an hour old               if none failed in the last 30 s         not at all
//	don't verify the token    if none failed in the last 5 s, and     1 s at most
//	                          the budget allows: three at once,
//	                          then one every 2 s
//
// Then the request uses the keys at hand, unless they are a day old. A token that these
// don't verify is rejected. If a fetch began after its request had arrived, and has ended
// without a key for it, the request neither starts nor waits for another one.
type issuerKeys struct {
	client   *http.Client
	log      *slog.Logger
	warnings rate.Sometimes // anybody can cause a fetch
	issuer   string         // that the metadata must name
	metadata []string       // where it may be; empty if the address of the keys is configured
	fixed    bool           // the keys are configured, and never fetched

	mu       sync.Mutex // for what follows; never held during a fetch
	clock    clock
	address  string        // of the keys; empty until it is known
	set      *KeySet       // nil without keys
	fetched  time.Time     // when the fetch of set began; without keys, the zero time
	failed   time.Time     // when a fetch last failed
	err      error         // of the last fetch
	running  chan struct{} // closed when the running fetch ends; nil if none is running
	begun    int           // how many fetches have begun
	ended    int           // and ended
	searches *rate.Limiter // of fetches for tokens that the keys don't verify
}

const (
	refreshAfter = time.Hour
	expireAfter  = 24 * time.Hour
	retryRefresh = 30 * time.Second
	searchWait   = time.Second
)

var (
	errFetching = errors.New("still being fetched")
	errPanic    = errors.New("the fetch panicked")
)

// newIssuerKeys returns the keys that c describes, but fetches none yet. Issuers have
// metadata (OpenID Connect Discovery 1.0, RFC 8414) or, as the user pools of Amazon
// Cognito, a known address.
func newIssuerKeys(c Config, client *http.Client, log *slog.Logger) (*issuerKeys, error) {
	k := &issuerKeys{
		client:   withLimits(client),
		log:      log,
		issuer:   c.Issuer,
		fixed:    c.Keys != nil,
		set:      c.Keys,
		address:  c.KeysURL,
		clock:    newClock(),
		searches: rate.NewLimiter(rate.Every(2*time.Second), 3),
		warnings: rate.Sometimes{Interval: time.Second},
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

// load fetches the keys, or waits for the fetch that is running, until ctx ends. It
// returns an error if there are no keys from that fetch, even if there are older ones.
func (k *issuerKeys) load(ctx context.Context) error {
	if k.fixed {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err := errFetching
	if k.running == nil {
		k.fetch(ctx)
		err = k.err
	} else if k.wait(ctx, fetchTimeout) {
		err = k.err
	}
	return unavailable(err)
}

// unavailable returns err as an ErrKeysUnavailable, or nil. It is no other error: one of
// a context would mean that the request has run out of time.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %v", ErrKeysUnavailable, err)
}

// fetchesBegun returns the number of fetches that have begun. For a request that arrives
// now, only later ones are sure to get the keys that the issuer has published.
func (k *issuerKeys) fetchesBegun() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.begun
}

// current returns keys that are less than a day old and, if the issuer responds, less
// than an hour.
func (k *issuerKeys) current(ctx context.Context) (*KeySet, error) {
	if k.fixed {
		return k.set, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch age := k.since(k.fetched); {
	case age < refreshAfter:
		return k.set, nil
	case age < expireAfter && k.running == nil && k.since(k.failed) >= retryRefresh:
		k.fetch(context.WithoutCancel(ctx))
	}
	for k.since(k.fetched) >= expireAfter {
		switch {
		case k.running != nil:
			if !k.wait(ctx, fetchTimeout) {
				return nil, unavailable(errFetching)
			}
		case k.since(k.failed) >= RetryAfter:
			k.fetch(context.WithoutCancel(ctx))
		default:
			return nil, unavailable(k.err)
		}
	}
	return k.set, nil
}

// newer returns keys other than the rejected ones, which don't verify a token. It fetches
// them if need be. It returns nil if the last fetch found no others, even if the budget
// alone kept it from asking again. If that fetch failed or hasn't ended, it returns an error.
// When the request arrived, begunBefore fetches had begun.
func (k *issuerKeys) newer(ctx context.Context, rejected *KeySet, begunBefore int) (*KeySet, error) {
	if k.fixed {
		return nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.set == rejected {
		switch {
		case k.ended > begunBefore: // one that began after the arrival has ended, since only one runs at a time
			return nil, k.err
		case k.running != nil:
			if !k.wait(ctx, searchWait) {
				return nil, errFetching
			}
		case k.since(k.failed) >= RetryAfter && k.searches.AllowN(k.clock.now(), 1):
			k.fetch(context.WithoutCancel(ctx))
		default:
			return nil, k.err
		}
	}
	return k.set, nil
}

// since returns how long ago t was. Since the zero time it has been longer than any limit.
// It must be called with k.mu.
func (k *issuerKeys) since(t time.Time) time.Duration { return k.clock.now().Sub(t) }

// wait waits until the running fetch or ctx ends, or the limit is over, and reports
// whether the fetch has ended. It must be called with k.mu, and unlocks it meanwhile.
func (k *issuerKeys) wait(ctx context.Context, limit time.Duration) bool {
	running, timer := k.running, time.NewTimer(limit)
	defer timer.Stop()
	k.mu.Unlock()
	select {
	case <-running:
	case <-timer.C:
	case <-ctx.Done():
	}
	k.mu.Lock()
	return k.running != running
}

// fetch fetches the keys, until ctx ends. It must be called with k.mu while no fetch is
// running, and unlocks it meanwhile.
func (k *issuerKeys) fetch(ctx context.Context) {
	began, address, running := k.clock.now(), k.address, make(chan struct{})
	k.begun++
	k.running = running
	k.mu.Unlock()
	set, err := (*KeySet)(nil), errPanic
	defer func() { // after a panic too, since handlers recover from it
		k.mu.Lock()
		k.ended++
		k.running, k.address, k.err = nil, address, err
		switch {
		case err == nil:
			k.fetched = began
			if k.set == nil || k.set.document != set.document { // else the cache of tokens stays valid
				k.set = set
			}
		case ctx.Err() == nil: // the issuer is at fault
			k.failed = k.clock.now()
		}
		close(running)
	}()
	address, set, err = k.read(ctx, address)
}
