package auth

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/logging"
)

const maxSubjectLength = 255 // bytes; the subject is part of a database key

// kinds are the claims by which issuers say what a token is: their codes, refresh, ID
// and logout tokens are signed with the same keys. See also docs/tokens.md. A claim
// with accepted values must have one of them, and one with rejected values none of
// them. One with neither must be absent. Case doesn't matter.
var kinds = []struct {
	claim              string
	accepted, rejected []string
	remedy             string
}{
	{"cnf", nil, nil, bound},                                          // RFC 7800 section 3.1; DPoP (RFC 9449) and mutual TLS (RFC 8705)
	{"token_use", []string{"access"}, nil, send},                      // Amazon Cognito
	{"typ", []string{"Bearer", "JWT", "at+jwt", "access"}, nil, send}, // Keycloak; the media types of the header; Guardian
	{"events", nil, nil, send},                                        // RFC 8417 section 2.2: security events, and logout tokens of OpenID Connect
	{"at_hash", nil, nil, likeID},                                     // OpenID Connect Core section 3.1.3.6: the hash of the token beside an ID token
	{"c_hash", nil, nil, likeID},                                      // OpenID Connect Core section 3.3.2.11
	{"token_class", nil, others, send},                                // idpyoidc
	{"ttype", nil, append([]string{"A", "R"}, others...), send},       // oidcendpoint, where access tokens are T
	{"type", nil, others, send},                                       // Glewlwyd, Flask-JWT-Extended
	{"token_type", nil, others, send},                                 // Simple JWT
}

var others = []string{"code", "authorization_code", "refresh", "refresh_token", "id", "id_token"}

// What to do about a token that isn't accepted.
const (
	send   = "send the access token"
	bound  = "the token is bound to a key: configure the issuer or the client to use bearer tokens, without DPoP and mutual TLS"
	likeID = "it looks like an ID token, or the issuer's access tokens do"
)

// parseClaims checks all claims except the time.
func (v *Verifier) parseClaims(h header, data []byte) (*verifiedToken, error) {
	c := parseMembers("payload", data)
	issuer := c.text("iss")
	c.check(issuer == v.config.Issuer, "iss is %s, not %s", logging.Quote(issuer), logging.Quote(v.config.Issuer))
	c.checkKind(h)
	v.checkAudience(c)
	subject := c.text("sub")
	c.check(0 < len(subject) && len(subject) <= maxSubjectLength, "sub has %d bytes, not 1 to %d", len(subject), maxSubjectLength)
	token := &verifiedToken{caller: Caller{Subject: subject}, expires: c.date("exp")}
	if c.has("nbf") {
		token.notBefore = c.date("nbf")
	}
	v.setScopes(&token.caller, c)
	return token, c.err
}

// checkKind rejects tokens that are not access tokens.
func (m *members) checkKind(h header) {
	for _, kind := range kinds {
		if m.has(kind.claim) {
			value, _ := unquote(m.raw[kind.claim]) // "" if it isn't a string
			same := func(s string) bool { return strings.EqualFold(s, value) }
			ok := slices.ContainsFunc(kind.accepted, same) || kind.rejected != nil && !slices.ContainsFunc(kind.rejected, same)
			m.check(ok, "the claim %s is %s: %s", kind.claim, logging.Quote(value), kind.remedy)
		}
	}
	// A token with nonce, or with auth_time but no scopes, is taken for an ID token
	// unless it says that it is an access token.
	typ, _ := unquote(m.raw["typ"])
	said := m.has("token_use") || m.has("typ") && !strings.EqualFold(typ, "JWT") || h.typ == "at+jwt"
	m.check(said || !m.has("nonce"), "nonce: %s", likeID)
	m.check(said || !m.has("auth_time") || m.has("scope") || m.has("scp"), "auth_time but no scope: %s", likeID)
}

// checkAudience checks that the token is for this service. Amazon Cognito's access
// tokens have client_id in place of aud, and token_use.
func (v *Verifier) checkAudience(c *members) {
	name := "aud"
	if !c.has("aud") && c.has("token_use") {
		name = "client_id"
	}
	accepted, audiences := v.config.Audiences, c.texts(name)
	c.check(slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(accepted, a) }),
		"%s is %s, accepted are %s", name, logging.Quote(strings.Join(audiences, " ")), logging.Quote(strings.Join(accepted, " ")))
}

// members are those of a token's header or payload.
type members struct {
	raw map[string]jsontext.Value // which distinguish null from absent
	err error                     // the first fault
}

// parseMembers parses a part of a token. Names are case-sensitive. Duplicate names,
// invalid UTF-8 and lone surrogates are errors: a parser that drops or replaces them
// could give two users the same subject. For this reason, and since it checks neither
// sub nor fractions of seconds, go-jose's jwt package isn't used.
func parseMembers(part string, data []byte) *members {
	m := new(members)
	err := json.Unmarshal(data, &m.raw)
	m.check(err == nil, "the %s is not a JSON object in UTF-8 without duplicate names", part)
	return m
}

// check sets the fault of m if ok is false, unless it has one.
func (m *members) check(ok bool, format string, args ...any) {
	if !ok && m.err == nil {
		m.err = invalid(format, args...)
	}
}

func (m *members) has(name string) bool { return m.raw[name] != nil }

// text returns a member that must be a string.
func (m *members) text(name string) string {
	m.check(m.has(name), "no %s: configure the issuer to include it", name)
	s, ok := unquote(m.raw[name])
	m.check(ok, "%s is not a string", name)
	return s
}

// texts returns a member that must be a string or an array of strings.
func (m *members) texts(name string) (list []string) {
	if m.raw[name].Kind() != '[' {
		return []string{m.text(name)}
	}
	err := json.Unmarshal(m.raw[name], &list)
	m.check(err == nil, "%s is not an array of strings", name)
	return list
}

// date returns a member that must be a number of seconds since 1970, possibly with a
// fraction (RFC 7519 section 2), up to the year 9999.
func (m *members) date(name string) time.Time {
	const limit = 253402300799 // 9999-12-31T23:59:59Z
	var f float64
	err := json.Unmarshal(m.raw[name], &f)
	m.check(err == nil && m.raw[name].Kind() == '0' && math.Abs(f) <= limit, "%s is missing, not a number or out of range", name)
	whole, fraction := math.Modf(f)
	return time.Unix(int64(whole), int64(fraction*float64(time.Second)))
}

func unquote(v jsontext.Value) (s string, ok bool) {
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}
