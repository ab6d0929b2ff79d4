package auth

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

// Issuers sign their codes and their ID, refresh and logout tokens with the same keys
// as access tokens, so only claims tell these apart. The lists have those claims with
// their sources; docs/issuers.md has the issuers that were tried.

// forbiddenClaims must be absent, null or an empty string.
var forbiddenClaims = []struct{ claim, remedy string }{
	{"cnf", bound},      // RFC 7800 section 3.1; DPoP (RFC 9449) and mutual TLS (RFC 8705)
	{"events", send},    // RFC 8417 section 2.2: security events, and logout tokens of OpenID Connect
	{"at_hash", likeID}, // OpenID Connect Core section 3.1.3.6: the hash of the token beside an ID token
	{"c_hash", likeID},  // OpenID Connect Core section 3.3.2.11
}

// allowedKinds are claims that must have one of these values if they are present.
var allowedKinds = []kindClaim{
	{"token_use", []string{"access"}},                      // Amazon Cognito
	{"typ", []string{"bearer", "jwt", "at+jwt", "access"}}, // Keycloak; the media types of the header; Guardian
}

// forbiddenKinds are claims that must not have any of these values.
var forbiddenKinds = []kindClaim{
	{"token_class", otherKinds},                          // idpyoidc
	{"ttype", append([]string{"a", "r"}, otherKinds...)}, // oidcendpoint, where access tokens are T
	{"type", otherKinds},                                 // Glewlwyd, Flask-JWT-Extended, Pocket ID
	{"token_type", otherKinds},                           // Simple JWT
	{"tokenType", otherKinds},                            // Casdoor
	{"tokenName", otherKinds},                            // PingAM, ForgeRock AM
	{"drn", []string{"dsr"}},                             // Descope, where access tokens are DS
}

// otherKinds are names of tokens that are not access tokens.
var otherKinds = []string{
	"code", "accesscode", "authorizationcode", "refresh", "refreshtoken", "id", "idtoken",
}

// A kindClaim is a claim that says what a token is. The values are as
// [members.kindName] returns them.
type kindClaim struct {
	claim  string
	values []string
}

// What to do about a token that isn't accepted.
const (
	send   = "send the access token"
	bound  = "the token is bound to a key: configure the issuer or the client to use bearer tokens, without DPoP and mutual TLS"
	likeID = "it looks like an ID token, or the issuer's access tokens do"
)

// checkKind returns an error for a token that isn't an access token.
func checkKind(h header, claims members) error {
	for _, f := range forbiddenClaims {
		if claims.says(f.claim) {
			return invalid("it has the claim %s: %s", f.claim, f.remedy)
		}
	}
	for _, a := range allowedKinds {
		if claims.has(a.claim) && !slices.Contains(a.values, claims.kindName(a.claim)) {
			return notAccess(claims, a.claim)
		}
	}
	for _, f := range forbiddenKinds {
		if slices.Contains(f.values, claims.kindName(f.claim)) {
			return notAccess(claims, f.claim)
		}
	}
	// ID tokens have nonce, and often auth_time. So do some access tokens, which
	// then say what they are or, with auth_time, name scopes.
	switch {
	case saysAccess(h, claims):
	case claims.says("nonce"):
		return invalid("it has the claim nonce: %s", likeID)
	case claims.says("auth_time") && !claims.has("scope") && !claims.has("scp"):
		return invalid("it has the claim auth_time but no scope: %s", likeID)
	}
	return nil
}

func notAccess(claims members, claim string) error {
	value, _ := unquote(claims[claim]) // "" if it isn't a string
	return invalid("the claim %s is %s: %s", claim, logging.Quote(value), send)
}

// saysAccess reports whether a token says that it is an access token. Its allowedKinds
// must have been checked. The type JWT says nothing.
func saysAccess(h header, claims members) bool {
	if h.typ == "at+jwt" || claims.has("token_use") || claims.has("typ") && claims.kindName("typ") != "jwt" {
		return true
	}
	return slices.ContainsFunc(forbiddenKinds, func(f kindClaim) bool { return claims.kindName(f.claim) == "accesstoken" })
}

// says reports whether a claim is present and neither null nor an empty string: tokens
// of some issuers always have a nonce.
func (m members) says(claim string) bool {
	return m.has(claim) && m[claim].Kind() != jsontext.KindNull && string(m[claim]) != `""`
}

// kindName returns a claim in lower case without hyphens, underscores and spaces, so
// that refresh_token and RefreshToken are the same. It returns "" if the claim isn't a
// string.
func (m members) kindName(claim string) string {
	value, _ := unquote(m[claim])
	return wordBreaks.Replace(strings.ToLower(value))
}

var wordBreaks = strings.NewReplacer("-", "", "_", "", " ", "")
