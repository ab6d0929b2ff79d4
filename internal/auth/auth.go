// Package auth says who sends a request: it checks the bearer token, a JWT
// access token (RFC 6750, RFC 7519, RFC 9068), by the rules of RFC 8725.
//
// A token is only as good as the key that signed it. Where the keys come from
// is a [KeySource]: given as they are ([StaticKeys]), or fetched from the
// issuer and kept fresh ([RemoteKeys]).
package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// The scopes that this service knows.
const (
	ScopeRead  = "plants/read"  // list plants
	ScopeWrite = "plants/write" // create and delete plants
)

// The errors of [Verifier.Authenticate], to be tested with [errors.Is]. An
// error that matches one of them says more, for the log; that text may name
// values of the token's header and claims, cut short, but never the token or
// its signature.
var (
	// ErrNoToken means that the request carries no bearer token: no
	// Authorization, one without credentials, or one of another scheme.
	ErrNoToken = errors.New("no bearer token")

	// ErrInvalidToken means that the token breaks a rule.
	ErrInvalidToken = errors.New("invalid token")

	// ErrExpiredToken means that the token was right in every respect, its
	// signature too, but is no longer.
	ErrExpiredToken = errors.New("token expired")

	// ErrKeysUnavailable means that nothing can be said of the token, since the
	// issuer's keys could not be fetched so far. A try after 5 seconds may
	// succeed.
	ErrKeysUnavailable = errors.New("keys of the token issuer unavailable")
)

// Config says which tokens a [Verifier] accepts.
type Config struct {
	// Issuer is the iss that tokens must carry, compared byte by byte.
	Issuer string

	// Audiences are the accepted values of aud or, for tokens of Amazon Cognito
	// (which have none), of client_id. At least one is needed.
	Audiences []string

	// RequireScopes demands of every token that it names the scope of what it
	// is used for. Without it, a token that names no scope of this service is
	// good for everything.
	//
	// Scopes are read from the claim scope alone (RFC 9068 section 2.2.3). With
	// an issuer that names them elsewhere, set RequireScopes: then its tokens
	// are good for nothing, not for more than they say.
	RequireScopes bool

	// Keys are the issuer's keys.
	Keys KeySource
}

// A KeySource holds the public keys of an issuer. It is a [*StaticKeySet] or a
// [*RemoteKeySet].
type KeySource interface {
	// find returns the key that a token with this kid and alg must be signed
	// with. An empty kid means that the token names none.
	//
	// The error matches ErrInvalidToken, ErrKeysUnavailable or ctx.Err().
	find(ctx context.Context, kid, alg string) (*key, error)
}

// A Caller is who sent a request. The zero Caller is allowed nothing.
type Caller struct {
	// Subject is the sub of the token: 1 to 255 bytes of UTF-8, unique among
	// the users of the issuer.
	Subject string

	read, write bool
}

// Allows reports whether the caller's token is good for scope, which is
// [ScopeRead] or [ScopeWrite]; no token is good for any other.
//
// A token that names any scope beginning with "plants/" is good only for those
// that it names. One that names none is good for both, unless
// [Config.RequireScopes] is set.
func (c Caller) Allows(scope string) bool {
	switch scope {
	case ScopeRead:
		return c.read
	case ScopeWrite:
		return c.write
	}
	return false
}

// A Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	config Config
	cache  tokenCache
}

// NewVerifier returns a Verifier, or an error if c lacks the issuer, the
// audiences or the keys: there is no default that lets anybody in.
func NewVerifier(c Config) (*Verifier, error) {
	switch {
	case c.Issuer == "":
		return nil, errors.New("no token issuer: set the iss that tokens must carry")
	case len(c.Audiences) == 0:
		return nil, errors.New("no token audience: set at least one accepted audience")
	case slices.Contains(c.Audiences, ""):
		return nil, errors.New("an accepted audience is empty: remove it")
	case c.Keys == nil:
		return nil, errors.New("no keys of the token issuer: set a key set or its address")
	}
	c.Audiences = slices.Clone(c.Audiences)
	return &Verifier{config: c}, nil
}

// Authenticate returns who sends the request with header h.
//
// The error matches one of this package's errors or, if ctx ended while the
// issuer's keys were fetched, ctx.Err().
func (v *Verifier) Authenticate(ctx context.Context, h http.Header) (Caller, error) {
	token, err := bearerToken(h)
	if err != nil {
		return Caller{}, err
	}
	sum := sumToken(token)
	g, err := v.recall(ctx, sum)
	if err != nil {
		return Caller{}, err
	}
	if g == nil {
		if g, err = v.verify(ctx, token); err != nil {
			return Caller{}, err
		}
	}
	if err := g.validAt(time.Now()); err != nil {
		return Caller{}, err
	}
	v.cache.put(sum, g)
	return g.caller, nil
}

// recall returns what is known of a token that was verified before, or nil if
// that is nothing, or if the key that it was verified with has been replaced.
func (v *Verifier) recall(ctx context.Context, sum tokenSum) (*grant, error) {
	g, ok := v.cache.get(sum)
	if !ok {
		return nil, nil
	}
	// This also keeps the keys fresh, as it does for any other token.
	k, err := v.config.Keys.find(ctx, g.kid, g.alg)
	if err != nil {
		return nil, err
	}
	if !k.equal(g.key) {
		return nil, nil
	}
	return g, nil
}
