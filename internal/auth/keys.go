package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// minRSABits is the smallest RSA key that RFC 7518 section 3.3 allows.
const minRSABits = 2048

// A StaticKeySet is a set of keys that never changes.
type StaticKeySet struct{ set keySet }

// StaticKeys returns the keys of a JSON Web Key Set (RFC 7517 section 5). Keys
// that can't be used are left out; it is an error if none is left.
//
// A key can be used if it is the public part of an RSA key of 2048 to 4096
// bits, of an elliptic curve key on P-256, P-384 or P-521, or of an Ed25519
// key, and if its use, key_ops and alg don't forbid to check a signature with
// it. A key whose private part is given away can't.
func StaticKeys(jwks []byte) (*StaticKeySet, error) {
	set, err := parseKeySet(jwks)
	if err != nil {
		return nil, err
	}
	return &StaticKeySet{set}, nil
}

func (s *StaticKeySet) find(_ context.Context, kid, alg string) (*key, error) {
	return s.set.find(kid, alg)
}

// A key checks signatures.
type key struct {
	kid        string   // empty if it has none
	algorithms []string // those that it may be used with
	public     crypto.PublicKey
}

func (k *key) equal(other *key) bool {
	public, ok := k.public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(other.public) &&
		k.kid == other.kid && slices.Equal(k.algorithms, other.algorithms)
}

type keySet []*key

// has reports whether a token that names kid can be checked without newer
// keys. One that names none is never a reason to fetch them.
func (s keySet) has(kid string) bool {
	return kid == "" || slices.ContainsFunc(s, func(k *key) bool { return k.kid == kid })
}

// find returns the key that a token must be signed with: the first with its
// kid that fits its algorithm or, if it names no kid, the only one that fits.
func (s keySet) find(kid, alg string) (*key, error) {
	fits := func(k *key) bool {
		return (kid == "" || k.kid == kid) && slices.Contains(k.algorithms, alg)
	}
	i := slices.IndexFunc(s, fits)
	switch {
	case !s.has(kid):
		return nil, invalid("no key has the kid %s", quote(kid))
	case i < 0:
		return nil, invalid("key %s is not for %s", quote(kid), alg)
	case kid == "" && slices.ContainsFunc(s[i+1:], fits):
		return nil, invalid("no kid, and several keys for %s", alg)
	}
	return s[i], nil
}

// parseKeySet returns the usable keys of a JSON Web Key Set, at least one.
func parseKeySet(data []byte) (keySet, error) {
	var document struct {
		Keys []jsontext.Value `json:"keys"`
	}
	// A key that is bad JSON in itself must not spoil the others.
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := json.Unmarshal(data, &document, lenient); err != nil {
		return nil, errors.New(`not a JSON Web Key Set: expected {"keys": […]}`)
	}
	var set keySet
	var faults []string
	for i, value := range document.Keys {
		k, err := parseKey(value)
		if err != nil {
			faults = append(faults, fmt.Sprintf("key %d: %v", i+1, err))
			continue
		}
		set = append(set, k)
	}
	if len(set) == 0 {
		const enough = 3
		faults = faults[:min(len(faults), enough)]
		return nil, fmt.Errorf("no usable key among the %d of the JSON Web Key Set; %s",
			len(document.Keys), strings.Join(append(faults, "give at least one public RSA, EC or Ed25519 key"), "; "))
	}
	return set, nil
}

// parseKey returns the key of a JSON Web Key (RFC 7517 section 4), or says why
// it can't be used.
func parseKey(data jsontext.Value) (*key, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, errors.New("not one JSON object without duplicate names")
	}
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"} {
		if _, ok := members[name]; ok {
			return nil, errors.New("it is not a public key")
		}
	}
	if ops, ok := members["key_ops"]; ok {
		var names []string
		if err := json.Unmarshal(ops, &names); err != nil || !slices.Contains(names, "verify") {
			return nil, errors.New("its key_ops don't include verify")
		}
	}
	// Certificates have no effect, not even when they are broken.
	for _, name := range []string{"x5c", "x5u", "x5t", "x5t#S256"} {
		delete(members, name)
	}
	data, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	if parsed.Use != "" && parsed.Use != "sig" {
		return nil, fmt.Errorf("its use is %s", quote(parsed.Use))
	}
	algorithms, err := algorithmsOf(parsed.Key)
	if err != nil {
		return nil, err
	}
	if parsed.Algorithm != "" {
		if !slices.Contains(algorithms, parsed.Algorithm) {
			return nil, fmt.Errorf("its alg %s does not fit it", quote(parsed.Algorithm))
		}
		algorithms = []string{parsed.Algorithm}
	}
	return &key{kid: parsed.KeyID, algorithms: algorithms, public: parsed.Key}, nil
}

// algorithmsOf returns the algorithms that the type and size of a public key
// allow (RFC 7518 sections 3.3 to 3.5, RFC 8037 section 3.1).
func algorithmsOf(public crypto.PublicKey) ([]string, error) {
	switch public := public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits {
			return nil, fmt.Errorf("an RSA key of %d bits, at least %d needed", bits, minRSABits)
		}
		if public.N.Bit(0) == 0 || public.E%2 == 0 || public.E > math.MaxInt32 {
			return nil, errors.New("not an RSA key: its modulus or exponent is out of range")
		}
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
	case *ecdsa.PublicKey:
		switch public.Curve.Params().BitSize {
		case 256:
			return []string{"ES256"}, nil
		case 384:
			return []string{"ES384"}, nil
		case 521:
			return []string{"ES512"}, nil
		}
	case ed25519.PublicKey:
		return []string{"EdDSA"}, nil
	}
	return nil, errors.New("its type is unknown or not public")
}
