package auth

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/excerpt"
)

const (
	leeway           = 30 * time.Second // for clock skew between the issuer and this machine
	maxSubjectLength = 255              // bytes; the subject is part of a database key
)

// checkClaims checks the claims that don't depend on time or scope, and returns the subject.
func (v *Verifier) checkClaims(claims members) (subject string, err error) {
	issuer, err := claims.text("iss")
	if err != nil {
		return "", err
	}
	if issuer != v.config.Issuer {
		return "", invalid("iss is %s, not %s", excerpt.Quote(issuer), excerpt.Quote(v.config.Issuer))
	}
	if err := checkKind(claims); err != nil {
		return "", err
	}
	if err := v.checkAudience(claims); err != nil {
		return "", err
	}
	if subject, err = claims.text("sub"); err != nil {
		return "", err
	}
	if n := len(subject); n == 0 || n > maxSubjectLength {
		return "", invalid("sub has %d bytes, not 1 to %d", n, maxSubjectLength)
	}
	return subject, nil
}

var (
	// otherKinds are kinds of tokens other than access tokens, in lower case and without
	// separators: both refresh_token and RefreshToken become refreshtoken.
	otherKinds = []string{"refresh", "refreshtoken", "id", "idtoken"}
	separators = strings.NewReplacer("-", "", "_", "", " ", "")
)

// checkKind returns an error if a claim identifies the token as another kind than an
// access token, or binds it to a key. Issuers sign all their tokens with the same keys,
// and some put scopes into ID and refresh tokens. checkKind makes no guesses from other
// claims. The scope check rejects the remaining tokens that name no scope, unless scopes are optional.
func checkKind(claims members) error {
	// RFC 7800 section 3.1, for DPoP (RFC 9449) and mutual TLS (RFC 8705). A cnf without a
	// value binds nothing.
	if cnf := string(claims["cnf"]); cnf != "" && cnf != "null" && cnf != `""` {
		return invalid("the token is bound to a key (claim cnf): configure the issuer or the client " +
			"to use bearer tokens, without DPoP and mutual TLS")
	}
	if use, _ := unquote(claims["token_use"]); claims.has("token_use") && use != "access" { // Amazon Cognito
		return wrongKind("token_use", use)
	}
	typ, _ := unquote(claims["typ"]) // Keycloak's, or the same as in the header
	if claims.has("typ") && !slices.Contains([]string{"bearer", "jwt", "at+jwt"}, strings.ToLower(typ)) {
		return wrongKind("typ", typ)
	}
	// Pocket ID, Casdoor and others. These claims may also name something else, such as a
	// type of user.
	for _, claim := range []string{"type", "token_type", "tokenType", "token_class"} {
		kind, _ := unquote(claims[claim])
		if slices.Contains(otherKinds, separators.Replace(strings.ToLower(kind))) {
			return wrongKind(claim, kind)
		}
	}
	return nil
}

// wrongKind returns the error for a claim that identifies another kind of token. The
// value is "" if it isn't a string.
func wrongKind(claim, value string) error {
	return invalid("the claim %s is %s: send the access token", claim, excerpt.Quote(value))
}

// checkAudience checks that the token is for this service. Amazon Cognito's access
// tokens contain token_use, and client_id instead of aud.
func (v *Verifier) checkAudience(claims members) error {
	name := "aud"
	if !claims.has("aud") && claims.has("token_use") {
		name = "client_id"
	}
	audiences, err := claims.texts(name)
	if err != nil {
		return err
	}
	accepted := v.config.Audiences
	if !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(accepted, a) }) {
		return invalid("%s is %s, accepted are %s", name, excerpt.Quote(strings.Join(audiences, " ")),
			excerpt.Quote(strings.Join(accepted, " ")))
	}
	return nil
}

// date returns a member that must be a number of seconds since 1970, possibly with a
// fraction (RFC 7519 section 2), up to the year 9999. All faults get the same error, and
// so does a missing member.
func (m members) date(name string) (time.Time, error) {
	const maxSeconds = 253402300799 // 9999-12-31T23:59:59Z
	var seconds float64
	err := json.Unmarshal(m[name], &seconds)
	if err != nil || m[name].Kind() != jsontext.KindNumber || math.Abs(seconds) > maxSeconds { // Unmarshal accepts null
		return time.Time{}, invalid("%s is missing, not a number or out of range", name)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*float64(time.Second))), nil
}

// checkDates returns an error if the token is not valid yet, or has expired.
func checkDates(claims members, now time.Time) error {
	expires, err := claims.date("exp")
	if err != nil {
		return err
	}
	if claims.has("nbf") {
		notBefore, err := claims.date("nbf")
		if err != nil {
			return err
		}
		if now.Add(leeway).Before(notBefore) {
			return invalid("not valid before %s", notBefore.UTC().Format(time.RFC3339))
		}
	}
	if !now.Add(-leeway).Before(expires) {
		return fmt.Errorf("%w at %s", ErrExpiredToken, expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// scopeNames returns the names in the claims scope (RFC 9068 section 2.2.3) and scp (Okta, Microsoft
// Entra ID). Each claim is a string or an array of strings, and each string contains names
// separated by spaces.
func scopeNames(claims members) ([]string, error) {
	var texts []string
	for _, claim := range []string{"scope", "scp"} {
		if claims.has(claim) {
			found, err := claims.texts(claim)
			if err != nil {
				return nil, err
			}
			texts = append(texts, found...)
		}
	}
	return strings.Split(strings.Join(texts, " "), " "), nil
}

// checkScope returns an error unless a token that names these scopes grants the scope. A token that
// names no scope of the service grants none or, with [Config.ScopesOptional], all.
func (v *Verifier) checkScope(names []string, scope string) error {
	named := excerpt.Quote(strings.Join(names, " ")) // before DeleteFunc changes names
	granted := slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(v.scopes, name) })
	if len(granted) == 0 && v.config.ScopesOptional {
		granted = v.scopes
	}
	switch {
	case slices.Contains(granted, scope):
		return nil
	case len(granted) > 0:
		return fmt.Errorf("%w: it names %s", ErrScope, named)
	default:
		return fmt.Errorf("%w: it names %s, no scope of this service: configure the issuer "+
			"to include it in scope or scp, or, to let such tokens do everything, make scopes optional", ErrScope, named)
	}
}
