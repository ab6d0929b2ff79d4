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

	"example.com/plantstore/internal/excerpt"
)

// maxHeaderLength is in bytes of base64url. A header with an RSA key (jwk) has 700. One
// with certificates (x5c) has more and is rejected: go-jose would parse the certificates
// before the signature is verified, although they are not used.
const maxHeaderLength = 1 << 10

// algorithms contains neither "none" nor any symmetric algorithm: with a symmetric key,
// anybody who can verify a token can also sign one.
var algorithms = []jose.SignatureAlgorithm{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
}

// verify checks a token in this order. It returns the first failure.
//
//  1. The form: three parts in canonical base64url.
//  2. The header: the algorithm, typ, and no extensions.
//  3. The claim iss, those that tell the kind of token, aud and sub. They come before the
//     signature, so that a token for another service doesn't cause a fetch of keys.
//  4. The signature, by one of the issuer's keys.
//  5. The dates exp and nbf.
//  6. The scope.
func (v *Verifier) verify(ctx context.Context, raw, scope string) (Caller, error) {
	t, err := parse(raw)
	if err != nil {
		return Caller{}, err
	}
	subject, err := v.checkClaims(t.claims)
	if err != nil {
		return Caller{}, err
	}
	if err := v.checkSignature(ctx, t); err != nil {
		return Caller{}, err
	}
	if err := checkDates(t.claims, time.Now()); err != nil {
		return Caller{}, err
	}
	names, err := scopeNames(t.claims)
	if err != nil {
		return Caller{}, err
	}
	return Caller{subject}, v.checkScope(names, scope)
}

// checkSignature returns an error unless one of the issuer's keys verifies the token. If the known keys
// don't, it looks for newer ones: the issuer may have added a key, under any kid.
func (v *Verifier) checkSignature(ctx context.Context, t *token) error {
	// The library parses the header again, so it gets only tokens that passed all earlier checks.
	jws, err := jose.ParseSignedCompact(t.raw, algorithms)
	if err != nil { // for example, jwk is not a public key
		return invalid("malformed header: %s", excerpt.Quote(withoutPrefix(err)))
	}
	keySet, err := v.issuerKeys.current(ctx)
	if err != nil {
		return err
	}
	fault := keySet.verify(jws, t.alg, t.kid)
	if fault == nil {
		return nil
	}
	newest, err := v.issuerKeys.newest(ctx, keySet)
	switch {
	case err != nil: // not a 503, since anybody can make up a kid
		return fmt.Errorf("%w, and newer keys are unknown: %v", fault, err)
	case newest == keySet:
		return fault
	}
	return newest.verify(jws, t.alg, t.kid)
}

// withoutPrefix returns the text of an error from go-jose without the library's name.
func withoutPrefix(err error) string { return strings.ReplaceAll(err.Error(), "go-jose/go-jose: ", "") }

// A token is a parsed JWT. Its signature is not verified yet.
type token struct {
	raw      string
	alg, kid string  // from the header; kid may be empty
	claims   members // not checked yet
}

// parse parses a JWS in compact serialization (RFC 7515 section 7.1), and checks its
// header. It accepts only the canonical encoding of each part.
func parse(raw string) (*token, error) {
	parts := strings.SplitN(raw, ".", 6) // no more: only 3 and 5 matter
	switch {
	case len(parts) == 5:
		return nil, invalid("an encrypted token: configure the issuer to sign access tokens and not to encrypt them")
	case len(parts) != 3, strings.ContainsAny(raw, "\r\n"): // the decoder ignores line breaks
		return nil, invalid("not a JWT, which has three parts separated by dots: " +
			"configure the issuer to issue JWT access tokens")
	case len(parts[0]) > maxHeaderLength:
		return nil, invalid("a header of %d bytes, more than %d: configure the issuer to include no certificates",
			len(parts[0]), maxHeaderLength)
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return nil, invalid("part %d is not base64url without padding", i+1)
		}
	}
	t := &token{raw: raw}
	header, err := parseMembers("header", decoded[0])
	if err != nil {
		return nil, err
	}
	if err := t.readHeader(header); err != nil {
		return nil, err
	}
	t.claims, err = parseMembers("payload", decoded[1])
	return t, err
}

// readHeader checks the header, and sets alg and kid. No key is taken from jku, jwk, x5u, x5c
// and the like, since only the keys of the key set are trusted.
func (t *token) readHeader(header members) (err error) {
	// No extension is supported. With b64 (RFC 7797), the signature could cover bytes
	// other than the ones decoded here.
	if header.has("crit") || header.has("b64") {
		return invalid("header crit or b64")
	}
	if t.alg, err = header.text("alg"); err != nil {
		return err
	}
	if !slices.Contains(algorithms, jose.SignatureAlgorithm(t.alg)) {
		return invalid("algorithm %s: configure the issuer to sign with RS256, ES256 or another algorithm with public keys",
			excerpt.Quote(t.alg))
	}
	if header.has("kid") {
		if t.kid, err = header.text("kid"); err != nil {
			return err
		}
	}
	if header.has("typ") {
		typ, err := header.text("typ")
		if err != nil {
			return err
		}
		switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
		case "jwt", "at+jwt": // RFC 7519 section 5.1, RFC 9068 section 2.1
		default:
			return invalid("typ is %s, neither JWT nor at+jwt", excerpt.Quote(typ))
		}
	}
	return nil
}

// members are the members of a JSON object. A null member is not absent.
type members map[string]jsontext.Value

// parseMembers parses a part of a token. Names are case-sensitive. Duplicate names,
// invalid UTF-8 and lone surrogates are errors: a parser that drops or replaces them
// could give two users the same subject. go-jose's jwt package isn't used for this
// reason, and because it checks neither sub nor fractions of seconds.
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
		return "", missingMember(name)
	}
	s, ok := unquote(m[name])
	if !ok {
		return "", invalid("%s is not a string", name)
	}
	return s, nil
}

// texts returns the strings of a member that must be a string or an array of strings. A
// null in the array counts as "".
func (m members) texts(name string) ([]string, error) {
	if !m.has(name) {
		return nil, missingMember(name)
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

func unquote(v jsontext.Value) (s string, ok bool) {
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

func missingMember(name string) error {
	return invalid("no %s: configure the issuer to include it", name)
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalidToken}, args...)...)
}
