package auth

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxSubjectLength is in bytes. The subject is part of a database key.
const maxSubjectLength = 255

// claims are the claims that are checked. Raw values distinguish null from absent.
type claims struct {
	// RFC 7519 section 4, RFC 9068 section 2.2
	Issuer    jsontext.Value `json:"iss"`
	Subject   jsontext.Value `json:"sub"`
	Audience  jsontext.Value `json:"aud"`
	ClientID  jsontext.Value `json:"client_id"`
	Expires   jsontext.Value `json:"exp"`
	NotBefore jsontext.Value `json:"nbf"`
	Scope     jsontext.Value `json:"scope"`
	Scp       jsontext.Value `json:"scp"`

	// kinds of tokens: Amazon Cognito, Keycloak, OpenID Connect Core 1.0
	TokenUse jsontext.Value `json:"token_use"`
	Type     jsontext.Value `json:"typ"`
	ATHash   jsontext.Value `json:"at_hash"`
	CHash    jsontext.Value `json:"c_hash"`
	Nonce    jsontext.Value `json:"nonce"`
	AuthTime jsontext.Value `json:"auth_time"`
}

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
	issuer, err := text("iss", c.Issuer)
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
	if c.Subject == nil {
		return nil, invalid("no sub: configure the issuer to include it")
	}
	subject, err := text("sub", c.Subject)
	if err != nil {
		return nil, err
	}
	if len(subject) == 0 || len(subject) > maxSubjectLength {
		return nil, invalid("sub has %d bytes, not 1 to %d", len(subject), maxSubjectLength)
	}
	token := &verifiedToken{caller: Caller{Subject: subject}}
	if token.expires, err = numericDate("exp", c.Expires); err != nil {
		return nil, err
	}
	if c.NotBefore != nil {
		if token.notBefore, err = numericDate("nbf", c.NotBefore); err != nil {
			return nil, err
		}
	}
	return token, v.setScopes(&token.caller, c)
}

// checkKind rejects tokens that are not access tokens, in particular ID tokens
// whose audience is accepted. docs/tokens.md lists what tells them apart for each
// issuer.
func (c claims) checkKind(h header) error {
	if c.TokenUse != nil {
		use, err := text("token_use", c.TokenUse)
		if err != nil {
			return err
		}
		if use != "access" {
			return invalid("token_use is %s: send the access token", quote(use))
		}
	}
	switch kind, _ := text("typ", c.Type); kind {
	case "ID", "Refresh", "Offline":
		return invalid("the claim typ is %s: send the access token", quote(kind))
	}
	if c.ATHash != nil || c.CHash != nil {
		return invalid("an ID token, since it has at_hash or c_hash: send the access token")
	}
	// Some access tokens have these as well, but then say what they are or name
	// scopes.
	accessToken := c.TokenUse != nil || h.typ == typeAccessToken || c.Scope != nil || c.Scp != nil
	if (c.Nonce != nil || c.AuthTime != nil) && !accessToken {
		return invalid("an ID token, since it has nonce or auth_time but no scopes: send the access token")
	}
	return nil
}

// checkAudience checks that the token is for this service. Amazon Cognito's access
// tokens have client_id in place of aud, and token_use.
func (v *Verifier) checkAudience(c claims) error {
	var audiences []string
	var err error
	switch {
	case c.Audience != nil:
		audiences, err = texts("aud", c.Audience)
	case c.ClientID != nil && c.TokenUse != nil:
		audiences = make([]string, 1)
		audiences[0], err = text("client_id", c.ClientID)
	default:
		return invalid("no aud: configure the issuer to include the audience of this service")
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(v.config.Audiences, a) }) {
		return invalid("aud is %s, accepted are %s", quoteSome(audiences), quoteSome(v.config.Audiences))
	}
	return nil
}

// setScopes sets what [Caller.Allows] reports. Issuers put scopes into scope (RFC
// 9068 section 2.2.3), scp or both.
func (v *Verifier) setScopes(caller *Caller, c claims) error {
	scope, err := scopes("scope", c.Scope)
	if err != nil {
		return err
	}
	scp, err := scopes("scp", c.Scp)
	if err != nil {
		return err
	}
	names := slices.Concat(scope, scp)
	ours := func(name string) bool { return strings.HasPrefix(name, "plants/") }
	all := !v.config.RequireScopes && !slices.ContainsFunc(names, ours)
	caller.read = all || slices.Contains(names, ScopeRead)
	caller.write = all || slices.Contains(names, ScopeWrite)
	return nil
}

// scopes returns the names in the claim name: a string of names separated by
// single spaces (RFC 6749 section 3.3), or an array.
func scopes(name string, v jsontext.Value) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	list, err := texts(name, v)
	return strings.Split(strings.Join(list, " "), " "), err
}

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
func texts(name string, v jsontext.Value) ([]string, error) {
	values := []jsontext.Value{v}
	if v.Kind() == '[' {
		if err := json.Unmarshal(v, &values); err != nil {
			return nil, invalid("%s is not an array", name)
		}
	}
	list := make([]string, len(values))
	for i, value := range values {
		var err error
		if list[i], err = text(name, value); err != nil {
			return nil, invalid("%s is neither a string nor an array of strings", name)
		}
	}
	return list, nil
}

// text returns the value of the claim or header parameter name: a string.
func text(name string, v jsontext.Value) (string, error) {
	if v == nil {
		return "", invalid("no %s", name)
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", invalid("%s is not a string", name)
	}
	return string(b), nil
}
