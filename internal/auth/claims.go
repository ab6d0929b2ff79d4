package auth

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

// maxSubjectLength is in bytes. The subject is part of a database key.
const maxSubjectLength = 255

// claims are the members of a token's payload or header. Raw values distinguish
// null from absent.
type claims map[string]jsontext.Value

// kinds are the claims by which issuers say what a token is: codes, refresh, ID and
// logout tokens have the same issuer and are signed with the same keys. docs/tokens.md
// lists what distinguishes ID tokens from access tokens for each issuer.
var kinds = []struct {
	claim    string
	accepted func(value string) bool
	remedy   string
}{
	{"cnf", oneOf(), bound},                                               // RFC 7800 section 3.1; DPoP (RFC 9449) and mutual TLS (RFC 8705)
	{"token_use", oneOf("access"), send},                                  // Amazon Cognito
	{"typ", oneOf("Bearer", "DPoP", "JWT", "at+jwt", "access"), send},     // Keycloak; the media types of the header; Guardian
	{"events", oneOf(), send},                                             // RFC 8417 section 2.2: security events, and logout tokens of OpenID Connect
	{"at_hash", oneOf(), likeID},                                          // OpenID Connect Core section 3.1.3.6: the hash of the token beside an ID token
	{"c_hash", oneOf(), likeID},                                           // OpenID Connect Core section 3.3.2.11
	{"token_class", not(oneOf(others...)), send},                          // idpyoidc
	{"ttype", not(oneOf(append([]string{"A", "R"}, others...)...)), send}, // oidcendpoint, where access tokens are T
	{"type", not(oneOf(others...)), send},                                 // Glewlwyd, Flask-JWT-Extended
	{"token_type", not(oneOf(others...)), send},                           // Simple JWT
}

var others = []string{"code", "authorization_code", "refresh", "refresh_token", "id", "id_token"}

// What to do about a token that isn't accepted.
const (
	send   = "send the access token"
	bound  = "the token is bound to a key: configure the issuer or the client to use bearer tokens, without DPoP and mutual TLS"
	likeID = "it looks like an ID token, or the issuer's access tokens do"
)

// oneOf returns a function that reports whether a value is in the list, in any case.
func oneOf(list ...string) func(string) bool {
	return func(value string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, value) })
	}
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// parseClaims checks all claims except the time.
//
// Names are case-sensitive. Duplicate names, invalid UTF-8 and lone surrogates
// are errors: a parser that drops or replaces them could give two users the
// same subject. For this reason, and since it checks neither sub nor fractions
// of seconds, go-jose's jwt package isn't used.
func (v *Verifier) parseClaims(h header, data []byte) (*verifiedToken, error) {
	var c claims
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, invalid("the claims are not a JSON object in UTF-8 without duplicate names")
	}
	issuer, err := text("iss", c["iss"])
	if err != nil {
		return nil, err
	}
	if issuer != v.config.Issuer {
		return nil, invalid("iss is %s, not %s", logging.Quote(issuer), logging.Quote(v.config.Issuer))
	}
	if err := c.checkKind(h); err != nil {
		return nil, err
	}
	if err := v.checkAudience(c); err != nil {
		return nil, err
	}
	subject, err := text("sub", c["sub"])
	if err != nil {
		return nil, err
	}
	if len(subject) == 0 || len(subject) > maxSubjectLength {
		return nil, invalid("sub has %d bytes, not 1 to %d", len(subject), maxSubjectLength)
	}
	token := &verifiedToken{caller: Caller{Subject: subject}}
	if token.expires, err = numericDate("exp", c["exp"]); err != nil {
		return nil, err
	}
	if c["nbf"] != nil {
		if token.notBefore, err = numericDate("nbf", c["nbf"]); err != nil {
			return nil, err
		}
	}
	return token, v.setScopes(&token.caller, c)
}

// checkKind rejects tokens that are not access tokens.
func (c claims) checkKind(h header) error {
	for _, kind := range kinds {
		if c[kind.claim] == nil {
			continue
		}
		if value, _ := text(kind.claim, c[kind.claim]); !kind.accepted(value) {
			return invalid("the claim %s is %s: %s", kind.claim, logging.Quote(value), kind.remedy)
		}
	}
	// Some access tokens have nonce or auth_time, as ID tokens do, but say what they
	// are. Others have auth_time and scopes. ID tokens with scopes have a nonce.
	said := c["token_use"] != nil || c["typ"] != nil || h.typ == "at+jwt"
	switch scoped := c["scope"] != nil || c["scp"] != nil; {
	case c["nonce"] != nil && !said:
		return invalid("nonce: %s", likeID)
	case c["auth_time"] != nil && !said && !scoped:
		return invalid("auth_time but no scope: %s", likeID)
	}
	return nil
}

// checkAudience checks that the token is for this service. Amazon Cognito's access
// tokens have client_id in place of aud, and token_use.
func (v *Verifier) checkAudience(c claims) error {
	name := "aud"
	if c["aud"] == nil && c["token_use"] != nil {
		name = "client_id"
	}
	audiences, err := texts(name, c[name])
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(v.config.Audiences, a) }) {
		return invalid("%s is %s, accepted are %s", name,
			logging.Quote(strings.Join(audiences, " ")), logging.Quote(strings.Join(v.config.Audiences, " ")))
	}
	return nil
}

// numericDate returns the value of the claim name: seconds since 1970, possibly
// with a fraction (RFC 7519 section 2), up to the year 9999.
func numericDate(name string, v jsontext.Value) (time.Time, error) {
	const limit = 253402300799 // 9999-12-31T23:59:59Z
	var f float64
	if v.Kind() != '0' || json.Unmarshal(v, &f) != nil || math.Abs(f) > limit {
		return time.Time{}, invalid("%s is missing, not a number or out of range", name)
	}
	whole, fraction := math.Modf(f)
	return time.Unix(int64(whole), int64(fraction*float64(time.Second))), nil
}

// texts returns the value of the claim name: a string or an array of strings.
func texts(name string, v jsontext.Value) (list []string, err error) {
	if v.Kind() == '[' && json.Unmarshal(v, &list) == nil {
		return list, nil
	}
	s, err := text(name, v)
	if err != nil && v != nil {
		err = invalid("%s is neither a string nor an array of strings", name)
	}
	return []string{s}, err
}

// text returns the value of the claim or header parameter name: a string.
func text(name string, v jsontext.Value) (string, error) {
	if v == nil {
		return "", invalid("no %s: configure the issuer to include it", name)
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", invalid("%s is not a string", name)
	}
	return string(b), nil
}
