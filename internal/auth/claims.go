package auth

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/logging"
)

const maxSubjectLength = 255 // bytes; the subject is part of a database key

// checkClaims checks all claims except the scopes, and the time.
func (v *Verifier) checkClaims(h header, claims members) (*verifiedToken, error) {
	issuer, err := claims.text("iss")
	if err != nil {
		return nil, err
	}
	if issuer != v.config.Issuer {
		return nil, invalid("iss is %s, not %s", logging.Quote(issuer), logging.Quote(v.config.Issuer))
	}
	if err := checkKind(h, claims); err != nil {
		return nil, err
	}
	if err := v.checkAudience(claims); err != nil {
		return nil, err
	}
	token := new(verifiedToken)
	if token.caller.Subject, err = claims.text("sub"); err != nil {
		return nil, err
	}
	if n := len(token.caller.Subject); n == 0 || n > maxSubjectLength {
		return nil, invalid("sub has %d bytes, not 1 to %d", n, maxSubjectLength)
	}
	if token.expires, err = claims.date("exp"); err != nil {
		return nil, err
	}
	if claims.has("nbf") {
		token.notBefore, err = claims.date("nbf")
	}
	return token, err
}

// checkAudience checks that the token is for this service. Amazon Cognito's access
// tokens have client_id in place of aud, and token_use.
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
		return invalid("%s is %s, accepted are %s", name, logging.Quote(strings.Join(audiences, " ")), logging.Quote(strings.Join(accepted, " ")))
	}
	return nil
}

// members are those of a JSON object. They distinguish null from absent.
type members map[string]jsontext.Value

// parseMembers parses a part of a token. Names are case-sensitive. Duplicate names,
// invalid UTF-8 and lone surrogates are errors: a parser that drops or replaces them
// could give two users the same subject. For this reason, and since it checks neither
// sub nor fractions of seconds, go-jose's jwt package isn't used.
func parseMembers(part string, data []byte) (members, error) {
	var m members
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, invalid("the %s is not a JSON object in UTF-8 without duplicate names", part)
	}
	return m, nil
}

func (m members) has(name string) bool { return m[name] != nil }

// text returns a member that must be a string.
func (m members) text(name string) (string, error) {
	if !m.has(name) {
		return "", missing(name)
	}
	s, ok := unquote(m[name])
	if !ok {
		return "", invalid("%s is not a string", name)
	}
	return s, nil
}

func missing(name string) error { return invalid("no %s: configure the issuer to include it", name) }

// texts returns a member that must be a string or an array of strings.
func (m members) texts(name string) ([]string, error) {
	if !m.has(name) {
		return nil, missing(name)
	}
	if s, ok := unquote(m[name]); ok {
		return []string{s}, nil
	}
	var list []string
	if err := json.Unmarshal(m[name], &list); err != nil || m[name].Kind() != '[' { // null has no error
		return nil, invalid("%s is neither a string nor an array of strings", name)
	}
	return list, nil
}

// date returns a member that must be a number of seconds since 1970, possibly with a
// fraction (RFC 7519 section 2), up to the year 9999.
func (m members) date(name string) (time.Time, error) {
	const limit = 253402300799 // 9999-12-31T23:59:59Z
	var seconds float64
	err := json.Unmarshal(m[name], &seconds)
	if err != nil || m[name].Kind() != '0' || math.Abs(seconds) > limit {
		return time.Time{}, invalid("%s is missing, not a number or out of range", name)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*float64(time.Second))), nil
}

func unquote(v jsontext.Value) (s string, ok bool) {
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

// stringsIn returns the strings in a value at any depth, and the names of members. A
// missing value has none.
func stringsIn(v jsontext.Value) (found []string) {
	d := jsontext.NewDecoder(bytes.NewReader(v), lenient...)
	for {
		token, err := d.ReadToken()
		if err != nil {
			return found // at the end, or where the value is malformed
		}
		if token.Kind() == jsontext.KindString {
			found = append(found, token.String())
		}
	}
}
