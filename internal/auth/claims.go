package auth

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

const (
	leeway           = 30 * time.Second // for clock skew between the issuer and this machine
	maxSubjectLength = 255              // bytes; the subject is part of a database key
)

// checkedClaims are claims that this service accepts. The signature of their token may
// not have been verified.
type checkedClaims struct {
	subject   string
	notBefore time.Time // the zero time if the token has no nbf
	expires   time.Time
}

// checkClaims checks the claims of a token, except its scopes. Whether it is valid now
// is left to validAt, since a token in the cache can expire.
func (v *Verifier) checkClaims(h header, claims members) (c checkedClaims, err error) {
	issuer, err := claims.text("iss")
	if err != nil {
		return c, err
	}
	if issuer != v.config.Issuer {
		return c, invalid("iss is %s, not %s", logging.Quote(issuer), logging.Quote(v.config.Issuer))
	}
	if err := checkKind(h, claims); err != nil {
		return c, err
	}
	if err := v.checkAudience(claims); err != nil {
		return c, err
	}
	if c.subject, err = claims.text("sub"); err != nil {
		return c, err
	}
	if n := len(c.subject); n == 0 || n > maxSubjectLength {
		return c, invalid("sub has %d bytes, not 1 to %d", n, maxSubjectLength)
	}
	if c.expires, err = claims.date("exp"); err != nil {
		return c, err
	}
	if claims.has("nbf") {
		c.notBefore, err = claims.date("nbf")
	}
	return c, err
}

// validAt returns an error if the claims are not valid yet, or have expired.
func (c checkedClaims) validAt(now time.Time) error {
	switch {
	case now.Add(leeway).Before(c.notBefore):
		return invalid("not valid before %s", c.notBefore.UTC().Format(time.RFC3339))
	case !now.Add(-leeway).Before(c.expires):
		return fmt.Errorf("%w at %s", ErrExpiredToken, c.expires.UTC().Format(time.RFC3339))
	}
	return nil
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

// texts returns the strings of a member that must be a string or an array of strings. A
// null in the array counts as "".
func (m members) texts(name string) ([]string, error) {
	if !m.has(name) {
		return nil, missing(name)
	}
	if s, ok := unquote(m[name]); ok {
		return []string{s}, nil
	}
	var array []string
	err := json.Unmarshal(m[name], &array)
	if err != nil || m[name].Kind() != jsontext.KindBeginArray { // Unmarshal accepts null
		return nil, invalid("%s is neither a string nor an array of strings", name)
	}
	return array, nil
}

// date returns a member that must be a number of seconds since 1970, possibly with a
// fraction (RFC 7519 section 2), up to the year 9999. One error covers all faults, and a
// missing member.
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

func unquote(v jsontext.Value) (s string, ok bool) {
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}
