// Package auth identifies the caller of a request by its bearer token: a JWT
// access token (RFC 6750, RFC 7519, RFC 9068), verified by the rules of RFC 8725.
//
// The keys of the token issuer come from a [KeySource]: either a fixed set
// ([StaticKeys]) or one that is fetched and kept fresh ([RemoteKeys]).
package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"example.com/plantstore/internal/config"
)

// The scopes of this service.
const (
	ScopeRead  = "plants/read"  // list plants
	ScopeWrite = "plants/write" // create and delete plants
)

// The errors of [Verifier.Authenticate], for use with [errors.Is]. The text of
// an error that wraps one of them is for the log: it may quote values of the
// token's header and claims, truncated, but never the token or its signature.
var (
	// ErrNoToken means that the request has no bearer token: the Authorization
	// header is missing, lacks credentials or has another scheme.
	ErrNoToken = errors.New("no bearer token")

	// ErrInvalidToken means that the token breaks a rule.
	ErrInvalidToken = errors.New("invalid token")

	// ErrExpiredToken means that the token is valid but expired.
	ErrExpiredToken = errors.New("token expired")

	// ErrKeysUnavailable means that the token can't be verified, since the
	// issuer's keys have not been fetched yet. Retry after 5 seconds.
	ErrKeysUnavailable = errors.New("keys of the token issuer unavailable")
)

// Config says which tokens a [Verifier] accepts.
type Config struct {
	// Issuer is the iss claim that tokens must have, compared byte by byte.
	Issuer string

	// Audiences are the accepted values of the aud claim or, for Amazon
	// Cognito's access tokens (which lack aud), of client_id. There must be at
	// least one.
	Audiences []string

	// RequireScopes rejects tokens that don't name the scope they are used for.
	// Without it, a token that names no scope of this service has all of them.
	// Scopes are read from the claims scope and scp, each a string or an array of
	// strings.
	RequireScopes bool

	// Keys are the issuer's keys.
	Keys KeySource
}

// A KeySource holds the public keys of an issuer. It is made by [StaticKeys] or
// [RemoteKeys].
type KeySource interface {
	// current returns the keys to verify a token with.
	current(context.Context) (*keySet, error)

	// newer returns newer keys than old, or old itself if it is the newest. It is
	// for tokens that old doesn't verify.
	newer(ctx context.Context, old *keySet) (*keySet, error)

	// The errors match ErrKeysUnavailable or ctx.Err().
}

// A Caller is the sender of a request. The zero Caller has no scope.
type Caller struct {
	// Subject is the sub claim: 1 to 255 bytes of UTF-8, unique among the users
	// of the issuer.
	Subject string

	read, write bool
}

// Allows reports whether the caller's token has scope, which is [ScopeRead] or
// [ScopeWrite]; no token has any other.
//
// A token that names any scope beginning with "plants/" has only the scopes
// that it names. One that names none has both, unless [Config.RequireScopes]
// is set.
func (c Caller) Allows(scope string) bool {
	switch scope {
	case ScopeRead:
		return c.read
	case ScopeWrite:
		return c.write
	}
	return false
}

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	config Config
	cache  tokenCache
}

// NewVerifier returns a Verifier, or an error if c lacks the issuer, the
// audiences or the keys: no incomplete Config accepts any token.
func NewVerifier(c Config) (*Verifier, error) {
	switch {
	case c.Issuer == "":
		return nil, errors.New("no token issuer: set the iss claim that tokens must have")
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

// New returns a Verifier of the tokens that c describes. Keys that c doesn't have
// are fetched with client, and failures to do so are logged. An error names the
// environment variable to change.
func New(c config.Tokens, client *http.Client, log *slog.Logger) (*Verifier, error) {
	if c.Issuer == "" || len(c.Audiences) == 0 {
		return nil, fmt.Errorf("%s or %s is not set: set both", config.TokenIssuer, config.TokenAudience)
	}
	keys, err := keysOf(c, client)
	if err != nil {
		return nil, err
	}
	if remote, ok := keys.(*RemoteKeySet); ok {
		remote.OnFailure = func(err error) { log.Warn("no token keys", "cause", err.Error()) }
	}
	return NewVerifier(Config{
		Issuer:        c.Issuer,
		Audiences:     c.Audiences,
		RequireScopes: c.RequireScopes != nil && *c.RequireScopes,
		Keys:          keys,
	})
}

// keysOf returns the keys in c.JWKS or, without it, those at c.JWKSURL or those
// that the issuer publishes.
func keysOf(c config.Tokens, client *http.Client) (keys KeySource, err error) {
	if c.JWKSURL == "" && c.JWKS == "" {
		if keys, err = IssuerKeys(c.Issuer, client); err != nil {
			return nil, fmt.Errorf("%s: %w with %s", config.TokenIssuer, err, config.TokenJWKSURL)
		}
	}
	if c.JWKSURL != "" { // an invalid URL is an error even if it is not used
		if keys, err = RemoteKeys(c.JWKSURL, client); err != nil {
			return nil, fmt.Errorf("%s: %w", config.TokenJWKSURL, err)
		}
	}
	if c.JWKS != "" {
		if keys, err = StaticKeys([]byte(c.JWKS)); err != nil {
			return nil, fmt.Errorf("%s: %w", config.TokenJWKS, err)
		}
	}
	return keys, nil
}

// Load fetches the issuer's keys, if they are remote. See [RemoteKeySet.Load].
func (v *Verifier) Load(ctx context.Context) error {
	if remote, ok := v.config.Keys.(*RemoteKeySet); ok {
		return remote.Load(ctx)
	}
	return nil
}

// Authenticate returns the caller of a request with header h.
//
// The error matches one of this package's errors or, if ctx ended while waiting
// for the issuer's keys, ctx.Err().
func (v *Verifier) Authenticate(ctx context.Context, h http.Header) (Caller, error) {
	raw, err := bearerToken(h)
	if err != nil {
		return Caller{}, err
	}
	hash := tokenHash(sha256.Sum256([]byte(raw)))
	token, err := v.cached(ctx, hash)
	if err != nil {
		return Caller{}, err
	}
	if token == nil {
		if token, err = v.verify(ctx, raw); err != nil {
			return Caller{}, err
		}
	}
	if err := token.validAt(time.Now()); err != nil {
		return Caller{}, err
	}
	v.cache.put(hash, token)
	return token.caller, nil
}

// cached returns a token that was verified before. It returns nil if there is
// none, or if the key that verified it has been replaced.
func (v *Verifier) cached(ctx context.Context, hash tokenHash) (*verifiedToken, error) {
	token := v.cache.get(hash)
	if token == nil {
		return nil, nil
	}
	keys, err := v.config.Keys.current(ctx)
	if err != nil {
		return nil, err
	}
	if k, err := keys.find(token.header); err != nil || !k.equal(token.key) {
		return nil, nil
	}
	return token, nil
}
