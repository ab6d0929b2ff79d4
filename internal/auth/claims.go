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

// A grant is what is kept of a token: to whom it grants what, and when. It holds neither the
// text, which is a credential, nor the claims, which may be long.
type grant struct {
	caller             Caller
	scopes             []string  // of the service
	scopeText          string    // an excerpt of the claims scope and scp, for the log
	notBefore, expires time.Time // notBefore is zero if the token has no nbf
	keySet             *KeySet   // the keys that verified the signature
}

// validAt returns an error if the token is not valid yet, or has expired.
func (g *grant) validAt(now time.Time) error {
	switch {
	case now.Add(leeway).Before(g.notBefore):
		return invalid("not valid before %s", g.notBefore.UTC().Format(time.RFC3339))
	case !now.Add(-leeway).Before(g.expires):
		return fmt.Errorf("%w at %s", ErrExpiredToken, g.expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkClaims checks all claims except the scopes. It doesn't compare the dates with the
// current time. The result lacks the scopes and the keys, since no signature is checked yet.
func (v *Verifier) checkClaims(claims members) (*grant, error) {
	issuer, err := claims.text("iss")
	if err != nil {
		return nil, err
	}
	if issuer != v.config.Issuer {
		return nil, invalid("iss is %s, not %s", excerpt.Quote(issuer), excerpt.Quote(v.config.Issuer))
	}
	if err := checkKind(claims); err != nil {
		return nil, err
	}
	if err := v.checkAudience(claims); err != nil {
		return nil, err
	}
	var g grant
	if g.caller.Subject, err = claims.text("sub"); err != nil {
		return nil, err
	}
	if n := len(g.caller.Subject); n == 0 || n > maxSubjectLength {
		return nil, invalid("sub has %d bytes, not 1 to %d", n, maxSubjectLength)
	}
	if g.expires, err = claims.date("exp"); err != nil {
		return nil, err
	}
	if claims.has("nbf") {
		g.notBefore, err = claims.date("nbf")
	}
	return &g, err
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
// claims. The scope check rejects the remaining tokens, unless scopes are optional.
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

// readScopes sets the scopes of the service that the claims scope (RFC 9068 section 2.2.3)
// and scp (Okta, Microsoft Entra ID) name exactly. Each claim is a string or an array of
// strings, and each string contains names separated by spaces. If the claims name no scope of
// the service, [Config.ScopesOptional] decides.
func (v *Verifier) readScopes(g *grant, claims members) error {
	var texts []string
	for _, claim := range []string{"scope", "scp"} {
		if claims.has(claim) {
			found, err := claims.texts(claim)
			if err != nil {
				return err
			}
			texts = append(texts, found...)
		}
	}
	all := strings.Join(texts, " ")
	g.scopeText = excerpt.Quote(all)
	names := strings.Split(all, " ")
	for _, scope := range v.scopes { // not over names: appending them would keep the whole text in memory
		if slices.Contains(names, scope) {
			g.scopes = append(g.scopes, scope)
		}
	}
	if g.scopes == nil && v.config.ScopesOptional {
		g.scopes = v.scopes
	}
	return nil
}

// checkScope returns an error unless the token grants the scope.
func (g *grant) checkScope(scope string) error {
	switch {
	case slices.Contains(g.scopes, scope):
		return nil
	case len(g.scopes) > 0:
		return fmt.Errorf("%w: it names %s", ErrScope, g.scopeText)
	default:
		return fmt.Errorf("%w: it names %s, no scope of this service: configure the issuer "+
			"to include it in scope or scp, or, to let such tokens do everything, make scopes optional", ErrScope, g.scopeText)
	}
}
