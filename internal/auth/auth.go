// Package auth identifies the caller of a request by its bearer token: a JWT
// access token (RFC 6750, RFC 7519, RFC 9068), verified by the rules of RFC 8725.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The errors of [Verifier.Authenticate], for use with [errors.Is]. The text of an
// error that wraps one of them is for the log. It may quote truncated values from the
// token's header and claims, but never the token or its signature.
var (
	ErrNoToken         = errors.New("no bearer token")                      // in the Authorization header
	ErrInvalidToken    = errors.New("invalid token")                        // the token breaks a rule
	ErrExpiredToken    = errors.New("token expired")                        // the token is the issuer's, but too old
	ErrKeysUnavailable = errors.New("keys of the token issuer unavailable") // retry after [RetryAfter]
	ErrScope           = errors.New("insufficient scope")                   // the token is valid, but lacks the scope
)

// RetryAfter is how long clients should wait after ErrKeysUnavailable. After a fetch of the
// keys, no request starts another for this long.
const RetryAfter = 5 * time.Second

const maxTokenLength = 10 << 10 // bytes; API Gateway's limit for a request line and all headers together

// A Config specifies which tokens a [Verifier] accepts.
type Config struct {
	Issuer         string   // the iss claim, compared byte by byte
	Audiences      []string // values of aud or, in Amazon Cognito's access tokens, client_id; at least one
	Keys           *KeySet  // the issuer's keys, or nil to fetch them
	KeysURL        string   // where to fetch them, see [CheckURL], or "" to find the address in the issuer's metadata
	ScopesOptional bool     // grant all scopes, rather than none, to a token that names no scope of the service
}

// A Caller is the sender of a request.
type Caller struct {
	Subject string // the sub claim: 1 to 255 bytes of UTF-8, unique among the users of the issuer
}

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	config     Config
	scopes     []string
	issuerKeys *issuerKeys
}

// New returns a Verifier for the tokens that c describes. It logs why a fetch of keys
// failed.
//
// The scopes are all scopes of the service, such as plants/read. A token grants the
// scopes that its claims scope and scp name exactly. If it names no scope of the
// service, c.ScopesOptional decides.
func New(c Config, scopes []string, log *slog.Logger) (*Verifier, error) {
	if c.Issuer == "" || len(c.Audiences) == 0 || slices.Contains(c.Audiences, "") {
		return nil, errors.New("no issuer or no audience of tokens")
	}
	issuerKeys, err := newIssuerKeys(c, log)
	if err != nil {
		return nil, err
	}
	return &Verifier{config: c, scopes: scopes, issuerKeys: issuerKeys}, nil
}

// Load fetches the issuer's keys, unless they are configured, before the first request needs
// them. It stops when ctx ends. After an error, requests try again.
func (v *Verifier) Load(ctx context.Context) error { return v.issuerKeys.load(ctx) }

// Authenticate returns the caller of a request, whose token must grant the scope, or one of
// this package's errors. With ErrScope, it returns the caller too. A scope that wasn't given
// to [New] is never granted.
func (v *Verifier) Authenticate(ctx context.Context, h http.Header, scope string) (Caller, error) {
	raw, err := bearerToken(h)
	if err != nil {
		return Caller{}, err
	}
	return v.verify(ctx, raw, scope)
}

// bearerToken returns the token from the Authorization header (RFC 6750 section 2.1).
// The scheme Bearer is case-insensitive (RFC 9110 section 11.1).
func bearerToken(h http.Header) (string, error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return "", fmt.Errorf("%w: no Authorization header", ErrNoToken)
	}
	scheme, token, _ := strings.Cut(strings.Trim(values[0], " \t"), " ")
	token = strings.TrimLeft(token, " ")
	firstWord, _, _ := strings.Cut(token, " ")
	switch {
	case len(values) > 1:
		return "", invalid("%d Authorization headers", len(values))
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return "", fmt.Errorf("%w: the Authorization header has another scheme or no credentials", ErrNoToken)
	case strings.EqualFold(firstWord, "Bearer"):
		return "", invalid(`the token begins with "Bearer": send that word once`)
	case len(token) > maxTokenLength:
		return "", invalid("%d bytes, more than %d", len(token), maxTokenLength)
	}
	return token, nil
}
