package auth

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// leeway is how far the issuer's clock and ours may be apart.
const leeway = 30 * time.Second

// algorithms are the signatures that a token may carry (RFC 7518 section 3.1,
// RFC 8037 section 3.1): no symmetric ones, with which whoever can check a
// token can also make one, and not "none". EdDSA means Ed25519.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512,
	jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
}

// A grant is what a token with a right signature says.
type grant struct {
	caller    Caller
	notBefore time.Time // zero if the token names none
	expires   time.Time

	// What the token names, and the key that it was found to be signed with.
	kid, alg string
	key      *key
}

// validAt returns ErrInvalidToken before the grant's time and ErrExpiredToken
// after it.
func (g *grant) validAt(now time.Time) error {
	switch {
	case now.Add(leeway).Before(g.notBefore):
		return invalid("not valid before %s", g.notBefore.UTC().Format(time.RFC3339))
	case !now.Add(-leeway).Before(g.expires):
		return fmt.Errorf("%w at %s", ErrExpiredToken, g.expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// verify checks all of a token but the time.
func (v *Verifier) verify(ctx context.Context, token string) (*grant, error) {
	header, payload, err := split(token)
	if err != nil {
		return nil, err
	}
	kid, alg, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	k, err := v.config.Keys.find(ctx, kid, alg)
	if err != nil {
		return nil, err
	}
	// The library looks at the header once more; what it can object to there
	// is a jwk, x5c or nonce that makes no sense. None of them is ever used.
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, invalid("the header makes no sense")
	}
	if _, err := jws.Verify(k.public); err != nil {
		return nil, invalid("wrong signature, by %s with key %s", alg, quote(kid))
	}
	g, err := v.parseClaims(payload)
	if err != nil {
		return nil, err
	}
	g.kid, g.alg, g.key = kid, alg, k
	return g, nil
}

// split decodes a JWS in compact form (RFC 7515 section 7.1). Each part has one
// valid spelling, so that no token can be written in two ways.
func split(token string) (header, payload []byte, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, invalid("%d parts instead of 3", len(parts))
	}
	var decoded [3][]byte
	for i, part := range parts {
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return nil, nil, invalid("part %d is not base64url without padding", i+1)
		}
	}
	return decoded[0], decoded[1], nil
}

// parseHeader reads the JOSE header. Only the key set says what a key is: jku,
// jwk, x5u, x5c and the like are never used.
func parseHeader(data []byte) (kid, alg string, err error) {
	var h struct {
		Alg  jsontext.Value `json:"alg"`
		Kid  jsontext.Value `json:"kid"`
		Typ  jsontext.Value `json:"typ"`
		Crit jsontext.Value `json:"crit"`
		B64  jsontext.Value `json:"b64"`
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return "", "", invalid("the header is not one JSON object without duplicate names")
	}
	// No extension is understood. With b64 (RFC 7797) the signature would
	// cover something else than what we read.
	if h.Crit != nil || h.B64 != nil {
		return "", "", invalid("header crit or b64")
	}
	if alg, err = text("alg", h.Alg); err != nil {
		return "", "", err
	}
	if !slices.Contains(algorithms, jose.SignatureAlgorithm(alg)) {
		return "", "", invalid("algorithm %s", quote(alg))
	}
	if h.Kid != nil {
		if kid, err = text("kid", h.Kid); err != nil {
			return "", "", err
		}
	}
	if h.Typ != nil {
		typ, err := text("typ", h.Typ)
		if err != nil {
			return "", "", err
		}
		if !isAccessTokenType(typ) {
			return "", "", invalid("typ %s", quote(typ))
		}
	}
	return kid, alg, nil
}

// isAccessTokenType knows the media types of RFC 7519 section 5.1 and RFC 9068
// section 2.1, whose "application/" may be left out.
func isAccessTokenType(typ string) bool {
	typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	return typ == "jwt" || typ == "at+jwt"
}

// text returns the string v, which the token calls name.
func text(name string, v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", invalid("%s is not a string", name)
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", invalid("%s is not a string", name)
	}
	return string(b), nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalidToken}, args...)...)
}

// quote makes what a client sent fit for a line of the log.
func quote(s string) string {
	const enough = 64
	if len(s) > enough {
		s = s[:enough]
	}
	return fmt.Sprintf("%q", s)
}
