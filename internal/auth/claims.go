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

// maxSubjectLength is in bytes. A subject is part of a key of the database.
const maxSubjectLength = 255

// claims are those that count (RFC 7519 section 4, RFC 9068 section 2.2, and
// token_use of Amazon Cognito). Raw values tell null from absent.
type claims struct {
	Issuer    jsontext.Value `json:"iss"`
	Subject   jsontext.Value `json:"sub"`
	Audience  jsontext.Value `json:"aud"`
	ClientID  jsontext.Value `json:"client_id"`
	TokenUse  jsontext.Value `json:"token_use"`
	Expires   jsontext.Value `json:"exp"`
	NotBefore jsontext.Value `json:"nbf"`
	Scope     jsontext.Value `json:"scope"`
}

// parseClaims checks all claims but the time.
//
// It reads them more strictly than most: names count to the letter, and
// duplicate names, invalid UTF-8 and lone surrogates are refused, since what
// replaces or drops them would make one subject of two.
func (v *Verifier) parseClaims(data []byte) (*grant, error) {
	var c claims
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, invalid("the claims are not one JSON object, without duplicate names, in UTF-8")
	}
	issuer, err := text("iss", c.Issuer)
	if err != nil {
		return nil, err
	}
	if issuer != v.config.Issuer {
		return nil, invalid("iss is %s", quote(issuer))
	}
	if err := v.checkAudience(c); err != nil {
		return nil, err
	}
	subject, err := text("sub", c.Subject)
	if err != nil {
		return nil, err
	}
	if len(subject) == 0 || len(subject) > maxSubjectLength {
		return nil, invalid("sub has %d bytes, not 1 to %d", len(subject), maxSubjectLength)
	}
	g := &grant{caller: Caller{Subject: subject}}
	if g.expires, err = numericDate("exp", c.Expires); err != nil {
		return nil, err
	}
	if c.NotBefore != nil {
		if g.notBefore, err = numericDate("nbf", c.NotBefore); err != nil {
			return nil, err
		}
	}
	return g, v.grantScopes(&g.caller, c.Scope)
}

// checkAudience checks that the token was made for this service, and to access
// it: Cognito marks its access tokens with token_use, and has their audience
// in client_id. Its ID tokens, which are no credentials, differ in both.
func (v *Verifier) checkAudience(c claims) error {
	if c.TokenUse != nil {
		use, err := text("token_use", c.TokenUse)
		if err != nil {
			return err
		}
		if use != "access" {
			return invalid("token_use is %s", quote(use))
		}
	}
	var audiences []string
	switch {
	case c.Audience != nil:
		list := []jsontext.Value{c.Audience}
		if c.Audience.Kind() == '[' {
			if err := json.Unmarshal(c.Audience, &list); err != nil {
				return invalid("aud is neither a string nor an array of strings")
			}
		}
		for _, value := range list {
			audience, err := text("aud", value)
			if err != nil {
				return err
			}
			audiences = append(audiences, audience)
		}
	case c.ClientID != nil && c.TokenUse != nil:
		client, err := text("client_id", c.ClientID)
		if err != nil {
			return err
		}
		audiences = append(audiences, client)
	default:
		return invalid("no aud")
	}
	if !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(v.config.Audiences, a) }) {
		return invalid("made for another audience")
	}
	return nil
}

// grantScopes sets what the caller is allowed, by [Caller.Allows].
func (v *Verifier) grantScopes(c *Caller, scope jsontext.Value) error {
	var names []string
	if scope != nil {
		s, err := text("scope", scope)
		if err != nil {
			return err
		}
		names = strings.Split(s, " ") // no other white space parts scopes: RFC 6749 section 3.3
	}
	ours := func(name string) bool { return strings.HasPrefix(name, "plants/") }
	all := !v.config.RequireScopes && !slices.ContainsFunc(names, ours)
	c.read = all || slices.Contains(names, ScopeRead)
	c.write = all || slices.Contains(names, ScopeWrite)
	return nil
}

// numericDate returns the time v, which the token calls name: seconds since
// 1970, possibly with a fraction (RFC 7519 section 2), not past the year 9999.
func numericDate(name string, v jsontext.Value) (time.Time, error) {
	const limit = 253402300799 // 9999-12-31T23:59:59Z
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
