package auth

import (
	"slices"
	"strings"

	"example.com/plantstore/internal/logging"
)

// Issuers sign their codes and their ID, refresh and logout tokens with the same keys
// as access tokens, so only claims tell these apart. The lists have those claims with
// their sources; docs/issuers.md has the issuers that were tried.

// forbidden are the claims that an access token of this service doesn't have.
var forbidden = []struct{ claim, remedy string }{
	{"cnf", bound},      // RFC 7800 section 3.1; DPoP (RFC 9449) and mutual TLS (RFC 8705)
	{"events", send},    // RFC 8417 section 2.2: security events, and logout tokens of OpenID Connect
	{"at_hash", likeID}, // OpenID Connect Core section 3.1.3.6: the hash of the token beside an ID token
	{"c_hash", likeID},  // OpenID Connect Core section 3.3.2.11
}

// demanded are the claims that must have one of the values if they are present.
var demanded = []kindClaim{
	{"token_use", []string{"access"}},                      // Amazon Cognito
	{"typ", []string{"bearer", "jwt", "at+jwt", "access"}}, // Keycloak; the media types of the header; Guardian
}

// telling are further claims that say what a token is. They must not have any of the
// values.
var telling = []kindClaim{
	{"token_class", others},                          // idpyoidc
	{"ttype", append([]string{"a", "r"}, others...)}, // oidcendpoint, where access tokens are T
	{"type", others},                                 // Glewlwyd, Flask-JWT-Extended, Pocket ID
	{"token_type", others},                           // Simple JWT
	{"tokenType", others},                            // Casdoor
	{"tokenName", others},                            // PingAM, ForgeRock AM
	{"drn", []string{"dsr"}},                         // Descope, where access tokens are DS
}

// others are names of tokens that are not access tokens.
var others = []string{
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
	for _, f := range forbidden {
		if claims.says(f.claim) {
			return invalid("it has the claim %s: %s", f.claim, f.remedy)
		}
	}
	for _, d := range demanded {
		if claims.has(d.claim) && !slices.Contains(d.values, claims.kindName(d.claim)) {
			return notAccess(claims, d.claim)
		}
	}
	for _, t := range telling {
		if slices.Contains(t.values, claims.kindName(t.claim)) {
			return notAccess(claims, t.claim)
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

// saysAccess reports whether a token whose demanded claims are right says that it is
// an access token. The type JWT says nothing.
func saysAccess(h header, claims members) bool {
	if h.typ == "at+jwt" || claims.has("token_use") || claims.has("typ") && claims.kindName("typ") != "jwt" {
		return true
	}
	return slices.ContainsFunc(telling, func(t kindClaim) bool { return claims.kindName(t.claim) == "accesstoken" })
}

// says reports whether a claim is present and neither null nor an empty string: tokens
// of some issuers always have a nonce.
func (m members) says(claim string) bool {
	return m.has(claim) && m[claim].Kind() != 'n' && string(m[claim]) != `""`
}

// kindName returns a claim in lower case without hyphens, underscores and spaces, so
// that refresh_token and RefreshToken are the same. It returns "" if the claim isn't a
// string.
func (m members) kindName(claim string) string {
	value, _ := unquote(m[claim])
	return wordBreaks.Replace(strings.ToLower(value))
}

var wordBreaks = strings.NewReplacer("-", "", "_", "", " ", "")
