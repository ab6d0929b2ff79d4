// Package auth identifies the caller of a request by its bearer token: a JWT
// access token (RFC 6750, RFC 7519, RFC 9068), verified by the rules of RFC 8725.
package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/plantstore/internal/config"
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

// A Caller is the sender of a request. The zero Caller has no scope.
type Caller struct {
	// Subject is the sub claim: 1 to 255 bytes of UTF-8, unique among the users
	// of the issuer.
	Subject string

	scopes []string // of the token, as far as the service has them
}

// Allows reports whether the caller's token has scope, one of those given to
// [New]. No token has any other.
func (c Caller) Allows(scope string) bool { return slices.Contains(c.scopes, scope) }

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	config config.Tokens
	scopes []string
	keys   *issuerKeys
	log    *slog.Logger
	cache  tokenCache
	warned sync.Once // of tokens without scopes
}

// New returns a Verifier of the tokens that c describes: iss is compared byte by
// byte, and aud or, for Amazon Cognito's access tokens (which lack aud), client_id
// must be one of the audiences. Keys that c doesn't have are fetched with client,
// and failures to do so are logged. An error names the environment variable to
// change.
//
// The scopes are those of the service, each a namespace, a slash and a name, such
// as plants/read. They are read from the claims scope and scp, each a string or an
// array of strings. A token that names any scope of these namespaces has only the
// scopes that it names. One that names none has all, unless scopes are required by
// c or the issuer's metadata names a scope of these namespaces.
func New(c config.Tokens, scopes []string, client *http.Client, log *slog.Logger) (*Verifier, error) {
	if c.Issuer == "" || len(c.Audiences) == 0 || slices.Contains(c.Audiences, "") {
		return nil, fmt.Errorf("%s or %s is not set: set both", config.TokenIssuer, config.TokenAudience)
	}
	keys, err := newIssuerKeys(c, client, log)
	if err != nil {
		return nil, err
	}
	return &Verifier{config: c, scopes: scopes, keys: keys, log: log}, nil
}

// Load fetches the issuer's keys, if they are remote, until ctx ends. An error is
// not final: a fetch that takes longer goes on, and after one that failed the next
// request that needs a key tries again.
//
// If tokens that name no scope are accepted without a setting that says so, Load
// logs a warning or, if there are no keys yet, the first such token does.
func (v *Verifier) Load(ctx context.Context) error {
	keys, err := v.keys.load(ctx)
	if err == nil && !v.requiresScopes(keys) {
		v.warnUnscoped()
	}
	return err
}

// Authenticate returns the caller of a request with header h.
//
// The error matches one of this package's errors or, if ctx ended while waiting
// for the issuer's keys, ctx.Err(). It matches both ErrInvalidToken and
// ErrKeysUnavailable if the keys at hand don't verify the token and newer ones
// can't be fetched.
func (v *Verifier) Authenticate(ctx context.Context, h http.Header) (Caller, error) {
	raw, err := bearerToken(h)
	if err != nil {
		return Caller{}, err
	}
	start, hash := wallClock(), tokenHash(sha256.Sum256([]byte(raw)))
	token := v.cache.get(hash)
	if token != nil {
		keys, err := v.keys.get(ctx, nil, start)
		if err != nil {
			return Caller{}, err
		}
		if keys != token.keys {
			token = nil
		}
	}
	if token == nil {
		if token, err = v.verify(ctx, raw, start); err != nil {
			return Caller{}, err
		}
	}
	if err := token.validAt(time.Now()); err != nil {
		return Caller{}, err
	}
	v.cache.put(hash, token)
	return token.caller, nil
}
