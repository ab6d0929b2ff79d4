package auth

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"example.com/plantstore/internal/logging"
)

// maxHeaderLength is in bytes of base64url. A header with an RSA key (jwk) has 700. One
// with certificates (x5c) has more, but go-jose would parse them before the signature is
// verified, twice and for nothing.
const maxHeaderLength = 1 << 10

// algorithms doesn't have "none" or any symmetric algorithm: with a symmetric key,
// whoever can verify a token can also sign one.
var algorithms = []jose.SignatureAlgorithm{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
}

// A verifiedToken is what a token with a valid signature says.
type verifiedToken struct {
	caller Caller
	claims checkedClaims
	keys   *KeySet // that verified the signature
}

// verify checks everything about a token except the time. When its request
// arrived, begunBefore fetches of keys had begun.
func (v *Verifier) verify(ctx context.Context, raw string, begunBefore int) (*verifiedToken, error) {
	h, payload, err := parse(raw)
	if err != nil {
		return nil, err
	}
	// The library parses the header again. It only rejects parameters that aren't used here,
	// such as a malformed jwk.
	jws, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil {
		return nil, invalid("malformed JOSE header")
	}
	claims, err := parseMembers("payload", payload)
	if err != nil {
		return nil, err
	}
	// The claims come before the signature: a token for another service must not cost a fetch.
	checked, err := v.checkClaims(h, claims)
	if err != nil {
		return nil, err
	}
	keys, err := v.signedBy(ctx, jws, h, begunBefore)
	if err != nil {
		return nil, err
	}
	// The scopes come last: only an issuer may make this program read a long list.
	caller, err := v.newCaller(checked.subject, claims)
	if err != nil {
		return nil, err
	}
	return &verifiedToken{caller, checked, keys}, nil
}

// signedBy returns the keys that verify jws, whose header is h. If the present ones
// don't, the issuer may have a new key, under any kid.
func (v *Verifier) signedBy(ctx context.Context, jws *jose.JSONWebSignature, h header, begunBefore int) (*KeySet, error) {
	keys, err := v.keys.current(ctx)
	if err != nil {
		return nil, err
	}
	for {
		fault := keys.verify(jws, h)
		if fault == nil {
			return keys, nil
		}
		newer, err := v.keys.newer(ctx, keys, begunBefore)
		switch {
		case err != nil: // which would mean 503, but anybody can make up a kid
			return nil, fmt.Errorf("%w, and newer keys are unknown: %v", fault, err)
		case newer == nil:
			return nil, fault
		}
		keys = newer
	}
}

// A header has the parameters of a JOSE header that matter here.
type header struct {
	alg, kid string
	typ      string // in lower case, without "application/"
}

// parse returns the header and the payload of a JWS in compact serialization (RFC 7515
// section 7.1). It accepts only the canonical encoding of each part. It ignores jku, jwk,
// x5u, x5c and the like: the key set alone says what a key is.
func parse(raw string) (h header, payload []byte, err error) {
	parts := strings.SplitN(raw, ".", 6) // 6 parts stand for any larger number
	switch {
	case len(parts) == 5:
		return h, nil, invalid("an encrypted token: configure the issuer to sign access tokens and not to encrypt them")
	case len(parts) != 3, strings.ContainsAny(raw, "\r\n"): // which the decoder ignores
		return h, nil, invalid("not a JWT, which has three parts separated by dots: configure the issuer to issue JWT access tokens")
	case len(parts[0]) > maxHeaderLength:
		return h, nil, invalid("a header of %d bytes, more than %d: configure the issuer to include no certificates", len(parts[0]), maxHeaderLength)
	}
	var decoded [3][]byte
	for i, part := range parts {
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return h, nil, invalid("part %d is not base64url without padding", i+1)
		}
	}
	h, err = parseHeader(decoded[0])
	return h, decoded[1], err
}

func parseHeader(data []byte) (h header, err error) {
	m, err := parseMembers("header", data)
	if err != nil {
		return h, err
	}
	// No extension is supported. With b64 (RFC 7797), the signature could cover
	// other bytes than those that are read here.
	if m.has("crit") || m.has("b64") {
		return h, invalid("header crit or b64")
	}
	if h.alg, err = m.text("alg"); err != nil {
		return h, err
	}
	if !slices.Contains(algorithms, jose.SignatureAlgorithm(h.alg)) {
		return h, invalid("algorithm %s: configure the issuer to sign with RS256, ES256 or another algorithm with public keys", logging.Quote(h.alg))
	}
	if m.has("kid") {
		if h.kid, err = m.text("kid"); err != nil {
			return h, err
		}
	}
	if m.has("typ") {
		typ, err := m.text("typ")
		if err != nil {
			return h, err
		}
		h.typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
		if h.typ != "jwt" && h.typ != "at+jwt" { // RFC 7519 section 5.1, RFC 9068 section 2.1
			return h, invalid("typ is %s, neither JWT nor at+jwt", logging.Quote(typ))
		}
	}
	return h, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalidToken}, args...)...)
}
