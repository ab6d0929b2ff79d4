package auth

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/config"
)

// maxSubjectLength is in bytes. The subject is part of a database key.
const maxSubjectLength = 255

// claims are the members of a token's payload or header. Raw values distinguish
// null from absent.
type claims map[string]jsontext.Value

// kinds are the claims by which tokens of issuers say what they are: codes,
// refresh, ID and logout tokens have the same issuer and are signed with the same
// keys. Values are compared without regard to case. docs/tokens.md lists what
// tells ID tokens from access tokens for each issuer.
var kinds = []struct {
	claim  string
	access []string // values of access tokens; all others are rejected
	others []string // values of other tokens; without lists, every value is one of them
}{
	{claim: "token_use", access: []string{"access"}},                              // Amazon Cognito
	{claim: "typ", access: []string{"Bearer", "DPoP", "JWT", "at+jwt", "access"}}, // Keycloak; the media types of the header; Guardian
	{claim: "events"},                                      // RFC 8417 section 2.2: security events, and logout tokens of OpenID Connect
	{claim: "at_hash"},                                     // OpenID Connect Core section 3.1.3.6: the hash of the token beside an ID token
	{claim: "c_hash"},                                      // OpenID Connect Core section 3.3.2.11
	{claim: "token_class", others: otherKinds},             // idpyoidc
	{claim: "ttype", others: append(otherKinds, "A", "R")}, // oidcendpoint, where access tokens are T
	{claim: "type", others: otherKinds},                    // Glewlwyd, Flask-JWT-Extended
	{claim: "token_type", others: otherKinds},              // Simple JWT
}

var otherKinds = []string{"code", "authorization_code", "refresh", "refresh_token", "id", "id_token"}

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
		return nil, invalid("iss is %s, not %s", quote(issuer), quote(v.config.Issuer))
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
	return token, v.setScopes(token, c)
}

// checkKind rejects tokens that are not access tokens.
func (c claims) checkKind(h header) error {
	for _, kind := range kinds {
		claim := c[kind.claim]
		if claim == nil {
			continue
		}
		value, _ := text(kind.claim, claim)
		is := func(s string) bool { return strings.EqualFold(s, value) }
		switch {
		case kind.access == nil && kind.others == nil:
			return invalid("a token with %s: send the access token", kind.claim)
		case kind.access != nil && !slices.ContainsFunc(kind.access, is), slices.ContainsFunc(kind.others, is):
			return invalid("the claim %s is %s: send the access token", kind.claim, quote(value))
		}
	}
	// Some access tokens have these as well, but then say what they are or name
	// scopes.
	accessToken := c["token_use"] != nil || h.typ == "at+jwt" || c["scope"] != nil || c["scp"] != nil
	for _, claim := range []string{"nonce", "auth_time"} {
		if c[claim] != nil && !accessToken {
			return invalid("%s but no scope: send the access token, or configure the issuer to include scope", claim)
		}
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
		return invalid("%s is %s, accepted are %s", name, quoteSome(audiences), quoteSome(v.config.Audiences))
	}
	return nil
}

// setScopes sets the scopes that a token names. Issuers put them into scope (RFC
// 9068 section 2.2.3), scp or both.
func (v *Verifier) setScopes(token *verifiedToken, c claims) error {
	var names []string
	for _, claim := range []string{"scope", "scp"} {
		if c[claim] != nil {
			list, err := texts(claim, c[claim])
			if err != nil {
				return err
			}
			// A string has names separated by single spaces (RFC 6749 section 3.3).
			names = append(names, strings.Split(strings.Join(list, " "), " ")...)
		}
	}
	token.scoped = v.inNamespace(names)
	for _, scope := range v.scopes {
		if slices.Contains(names, scope) {
			token.caller.scopes = append(token.caller.scopes, scope)
		}
	}
	return nil
}

// requiresScopes reports whether a token that names no scope has none.
func (v *Verifier) requiresScopes(keys *keySet) bool {
	required := v.config.RequireScopes
	return required != nil && *required || v.inNamespace(keys.scopes)
}

// warnUnscoped logs once that tokens that name no scope are accepted, unless a
// setting says so.
func (v *Verifier) warnUnscoped() {
	if v.config.RequireScopes == nil {
		v.warned.Do(func() {
			v.log.Warn("tokens without scopes may do everything: set "+config.RequireScopes, "scopes", v.scopes)
		})
	}
}

// inNamespace reports whether any of the scopes is in a namespace of this
// service's scopes.
func (v *Verifier) inNamespace(scopes []string) bool {
	return slices.ContainsFunc(scopes, func(s string) bool {
		return slices.ContainsFunc(v.scopes, func(ours string) bool { return namespace(s) == namespace(ours) })
	})
}

// namespace returns a scope up to the first slash, which it includes.
func namespace(scope string) string { return scope[:strings.Index(scope, "/")+1] }

// numericDate returns the value of the claim name: seconds since 1970, possibly
// with a fraction (RFC 7519 section 2), up to the year 9999.
func numericDate(name string, v jsontext.Value) (time.Time, error) {
	const limit = 253402300799 // 9999-12-31T23:59:59Z
	if v == nil {
		return time.Time{}, invalid("no %s", name)
	}
	if v.Kind() != '0' {
		return time.Time{}, invalid("%s is not a number", name)
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.Abs(f) > limit {
		return time.Time{}, invalid("%s is out of range", name)
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
