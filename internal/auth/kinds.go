package auth

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

// Issuers sign their codes and their ID, refresh and logout tokens with the same keys as
// access tokens, and some of these name scopes. So only the claims below tell them apart.

// kindClaims are the claims in which issuers name the kind of a token.
var kindClaims = []string{
	"type",        // Glewlwyd, Flask-JWT-Extended, Pocket ID
	"token_type",  // Simple JWT
	"tokenType",   // Casdoor
	"tokenName",   // PingAM, ForgeRock AM
	"token_class", // idpyoidc
	"ttype",       // oidcendpoint
}

// otherKinds are the kinds of tokens that aren't access tokens, as [members.kind] returns them.
var otherKinds = []string{
	"code", "accesscode", "authorizationcode", "refresh", "refreshtoken", "id", "idtoken",
}

// checkKind returns an error for a token that isn't an access token, or that is more
// than a bearer token.
func checkKind(h header, claims members) error {
	if claims.says("cnf") { // RFC 7800 section 3.1; DPoP (RFC 9449) and mutual TLS (RFC 8705)
		return invalid("it has the claim cnf: the token is bound to a key: configure the issuer or the client to use bearer tokens, without DPoP and mutual TLS")
	}
	if claims.says("events") { // RFC 8417 section 2.2: security events, and logout tokens of OpenID Connect
		return invalid("it has the claim events: send the access token")
	}
	isAccess := h.typ == "at+jwt" // RFC 9068 section 2.1
	if claims.has("token_use") {  // Amazon Cognito
		if use, _ := unquote(claims["token_use"]); use != "access" {
			return claims.wrongKind("token_use")
		}
		isAccess = true
	}
	if claims.has("typ") { // Keycloak; or as in the header
		switch typ, _ := unquote(claims["typ"]); strings.ToLower(typ) {
		case "bearer", "at+jwt":
			isAccess = true
		case "jwt": // which all tokens are
		default:
			return claims.wrongKind("typ")
		}
	}
	for _, claim := range kindClaims {
		kind := claims.kind(claim)
		if slices.Contains(otherKinds, kind) {
			return claims.wrongKind(claim)
		}
		isAccess = isAccess || kind == "accesstoken"
	}
	if isAccess {
		return nil
	}
	for _, claim := range []string{"at_hash", "c_hash", "nonce"} { // of ID tokens: OpenID Connect Core section 2 and 3.3.2.11
		if claims.says(claim) {
			return invalid("it has the claim %s: it looks like an ID token, or the issuer's access tokens do", claim)
		}
	}
	return nil
}

func (m members) wrongKind(claim string) error {
	value, _ := unquote(m[claim]) // "" if it isn't a string
	return invalid("the claim %s is %s: send the access token", claim, logging.Quote(value))
}

// says reports whether a claim is present and neither null nor an empty string: tokens
// of some issuers always have a nonce.
func (m members) says(claim string) bool {
	return m.has(claim) && m[claim].Kind() != jsontext.KindNull && string(m[claim]) != `""`
}

// kind returns a claim in lower case without hyphens, underscores and spaces, so that
// refresh_token and RefreshToken are the same. It returns "" if the claim isn't a string.
func (m members) kind(claim string) string {
	value, _ := unquote(m[claim])
	return wordBreaks.Replace(strings.ToLower(value))
}

var wordBreaks = strings.NewReplacer("-", "", "_", "", " ", "")
