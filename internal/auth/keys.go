package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/excerpt"
)

const (
	minRSABits = 2048 // RFC 7518 section 3.3; go-jose rejects more than 4096, which are slow to verify
	maxTried   = 8    // keys per token

	usableKey = "a public RSA key of 2048 to 4096 bits, EC key on P-256, P-384 or P-521, or Ed25519 key, for signatures"
)

// errNoUsableKey means that a key set withdraws all keys, see expireAfter.
var errNoUsableKey = errors.New("the JSON Web Key Set has no usable key")

// A KeySet is a JSON Web Key Set. It is immutable.
type KeySet struct{ keys []key }

// A key verifies signatures.
type key struct {
	kid        string   // may be empty
	algorithms []string // that the key may be used with
	public     crypto.PublicKey
	fault      string // why the key is unusable
}

// verify returns an error unless one of the keys signed jws, whose header contains alg and
// kid. It tries the keys with this kid or, if kid is empty, all keys.
func (s *KeySet) verify(jws *jose.JSONWebSignature, alg, kid string) error {
	var tried int
	var fault string // of the key that the token names
	for _, k := range s.keys {
		if kid != "" && kid != k.kid {
			continue
		}
		switch {
		case k.fault != "":
			if kid != "" {
				fault = k.fault
			}
		case slices.Contains(k.algorithms, alg) && tried < maxTried:
			if _, err := jws.Verify(k.public); err == nil {
				return nil
			}
			tried++
		}
	}
	switch quoted := excerpt.Quote(kid); {
	case tried > 0:
		return invalid("wrong signature, by %s with key %s", alg, quoted)
	case fault != "":
		return invalid("the key %s is unusable: %s", quoted, fault)
	case kid == "":
		return invalid("no key for %s", alg)
	default:
		return invalid("no key for %s has the kid %s", alg, quoted)
	}
}

// ParseKeySet parses a JSON Web Key Set (RFC 7517 section 5). It skips unusable keys, but
// at least one must be usable. A usable key is a public RSA key of 2048 to 4096 bits, an
// elliptic curve key on P-256, P-384 or P-521, or an Ed25519 key. Its use, key_ops and
// alg, if present, permit it to verify signatures.
func ParseKeySet(data []byte) (*KeySet, error) {
	var document struct {
		Keys []jsontext.Value `json:"keys"` // parsed one by one: a malformed key must not affect the others
	}
	if err := unmarshalLeniently(data, &document); err != nil || document.Keys == nil { // missing or null
		return nil, errors.New(`not a JSON Web Key Set, which looks like {"keys": […]}`)
	}
	set := &KeySet{}
	for _, value := range document.Keys {
		set.keys = append(set.keys, parseKey(value))
	}
	if len(set.keys) == 0 {
		return nil, fmt.Errorf("%w: add %s", errNoUsableKey, usableKey)
	}
	if !slices.ContainsFunc(set.keys, func(k key) bool { return k.fault == "" }) {
		return nil, fmt.Errorf("%w: the first of %d has this fault: %s", errNoUsableKey, len(set.keys), set.keys[0].fault)
	}
	return set, nil
}

// unmarshalLeniently unmarshals a document from an issuer. It accepts a byte order mark,
// duplicate names and invalid UTF-8, so that an oddity in an unused part of the document
// doesn't make the service unavailable.
func unmarshalLeniently(data []byte, v any) error {
	return json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), v, jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// parseKey parses a JSON Web Key (RFC 7517 section 4). It sets the kid of an unusable key
// too, unless the kid can't be read.
func parseKey(data jsontext.Value) key {
	var m members
	if json.Unmarshal(data, &m) != nil {
		return key{fault: "not a JSON object in UTF-8 without duplicate names"}
	}
	var kid string
	if m.has("kid") && json.Unmarshal(m["kid"], &kid) != nil {
		return key{fault: "kid is not a string"}
	}
	public, algorithms, err := parsePublic(m)
	if err != nil {
		return key{kid: kid, fault: withoutPrefix(err)}
	}
	return key{kid: kid, public: public, algorithms: algorithms}
}

// parsePublic returns the public key in a JSON Web Key, for go-jose, and the algorithms that it
// may be used with. An error says why the key is unusable.
func parsePublic(m members) (crypto.PublicKey, []string, error) {
	// With any one of these members, anybody could sign. If d is absent, go-jose doesn't notice the others.
	if slices.ContainsFunc([]string{"d", "p", "q", "dp", "dq", "qi"}, m.has) {
		return nil, nil, errors.New("it is private: publish the public key, and replace this one")
	}
	if m.has("key_ops") && !allowsVerify(m["key_ops"]) {
		return nil, nil, errors.New("key_ops doesn't contain verify")
	}
	for _, name := range []string{"x5c", "x5u", "x5t", "x5t#S256"} { // certificates are ignored, even malformed ones
		delete(m, name)
	}
	var parsed jose.JSONWebKey
	rest, _ := json.Marshal(m) // members that were parsed don't fail
	err := parsed.UnmarshalJSON(rest)
	if err != nil && !errors.Is(err, jose.ErrUnsupportedKeyType) { // an unsupported type leaves parsed.Key nil
		return nil, nil, err
	}
	public, algorithms := forJose(parsed.Key)
	alg := parsed.Algorithm
	switch {
	case parsed.Use != "" && parsed.Use != "sig":
		return nil, nil, fmt.Errorf(`use is %s, not "sig"`, excerpt.Quote(parsed.Use))
	case public == nil:
		return nil, nil, errors.New("it must be " + usableKey)
	case alg == "":
		return public, algorithms, nil
	case !slices.Contains(algorithms, alg):
		return nil, nil, fmt.Errorf("alg is %s, not %s", excerpt.Quote(alg), strings.Join(algorithms, ", "))
	}
	if _, hasTwoNames := public.(ed25519Key); !hasTwoNames { // an Ed25519 key keeps both
		algorithms = []string{alg}
	}
	return public, algorithms, nil
}

// allowsVerify reports whether key_ops permits to verify signatures. go-jose ignores it.
func allowsVerify(keyOps jsontext.Value) bool {
	var operations []string
	err := json.Unmarshal(keyOps, &operations)
	return err == nil && (operations == nil || slices.Contains(operations, "verify"))
}

// curveAlgorithms has the algorithm of each curve. go-jose accepts no other curves.
var curveAlgorithms = map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}

// forJose returns a public key as go-jose takes it, and the key's algorithms (RFC 7518
// sections 3.3 to 3.5, RFC 8037 section 3.1, RFC 9864 section 2.2), or nil if it is unusable.
func forJose(public any) (crypto.PublicKey, []string) {
	switch public := public.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() < minRSABits {
			return nil, nil
		}
		return public, []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		return public, []string{curveAlgorithms[public.Params().Name]}
	case ed25519.PublicKey:
		return ed25519Key(public), []string{"EdDSA", "Ed25519"}
	default:
		return nil, nil
	}
}

// An ed25519Key verifies signatures under both names of its algorithm. go-jose's own
// verifier accepts only EdDSA.
type ed25519Key ed25519.PublicKey

// VerifyPayload implements [jose.OpaqueVerifier].
func (k ed25519Key) VerifyPayload(payload, signature []byte, _ jose.SignatureAlgorithm) error {
	if !ed25519.Verify(ed25519.PublicKey(k), payload, signature) {
		return jose.ErrCryptoFailure
	}
	return nil
}
