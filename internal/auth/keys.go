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

// StaticKeys returns the keys of a JSON Web Key Set (RFC 7517 section 5). It
// skips unusable keys, and returns an error if no key is left.
//
// A usable key is a public RSA key of at least 2048 bits, an elliptic curve key
// on P-256, P-384 or P-521, or an Ed25519 key, whose use, key_ops and alg, if
// present, permit it to verify signatures. A key that includes its private part
// is unusable.
func StaticKeys(jwks []byte) (KeySource, error) {
	set, err := parseKeySet(jwks)
	if err != nil {
		return nil, err
	}
	return staticKeys{set}, nil
}

type staticKeys struct{ set *keySet }

func (s staticKeys) current(context.Context) (*keySet, error)        { return s.set, nil }
func (s staticKeys) newer(context.Context, *keySet) (*keySet, error) { return s.set, nil }

// A key verifies signatures.
type key struct {
	kid        string   // may be empty
	algorithms []string // that the key may be used with
	public     crypto.PublicKey
}

func (k *key) equal(other *key) bool {
	public, ok := k.public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(other.public) &&
		k.kid == other.kid && slices.Equal(k.algorithms, other.algorithms)
}

// A keySet is a JSON Web Key Set. It doesn't change.
type keySet struct {
	keys     []*key
	unusable map[string]error // why, by kid
}

// verify returns the key that signed jws, whose header is h.
func (s *keySet) verify(jws *jose.JSONWebSignature, h header) (*key, error) {
	k, err := s.find(h)
	if err != nil {
		return nil, err
	}
	if _, err := jws.Verify(k.public); err != nil {
		return nil, invalid("wrong signature, by %s with key %s", h.alg, quote(h.kid))
	}
	return k, nil
}

// find returns the first key with the kid and for the algorithm of h. Without a
// kid, it returns the key for the algorithm if there is exactly one.
func (s *keySet) find(h header) (*key, error) {
	named := func(k *key) bool { return h.kid == "" || k.kid == h.kid }
	fits := func(k *key) bool { return named(k) && slices.Contains(k.algorithms, h.alg) }
	i := slices.IndexFunc(s.keys, fits)
	switch err := s.unusable[h.kid]; {
	case i < 0 && err != nil:
		return nil, invalid("the key %s is unusable: %v", quote(h.kid), err)
	case !slices.ContainsFunc(s.keys, named):
		return nil, invalid("no key has the kid %s", quote(h.kid))
	case i < 0:
		return nil, invalid("key %s is not for %s", quote(h.kid), h.alg)
	case h.kid == "" && slices.ContainsFunc(s.keys[i+1:], fits):
		return nil, invalid("no kid, and several keys for %s", h.alg)
	}
	return s.keys[i], nil
}

// parseKeySet returns the usable keys of a JSON Web Key Set, at least one.
func parseKeySet(data []byte) (*keySet, error) {
	var document struct {
		Keys []jsontext.Value `json:"keys"`
	}
	// One malformed key must not affect the others.
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := json.Unmarshal(data, &document, lenient); err != nil {
		return nil, errors.New(`not a JSON Web Key Set, which looks like {"keys": […]}`)
	}
	set := &keySet{unusable: make(map[string]error)}
	var faults []string
	for i, value := range document.Keys {
		k, err := parseKey(value)
		if err != nil {
			faults = append(faults, fmt.Sprintf("key %d: %v", i+1, err))
			var named struct {
				Kid string `json:"kid"`
			}
			if json.Unmarshal(value, &named, lenient) == nil {
				set.unusable[named.Kid] = err
			}
			continue
		}
		set.keys = append(set.keys, k)
	}
	if len(set.keys) == 0 {
		const enough = 3
		faults = append(faults[:min(len(faults), enough)], "add at least one public RSA, EC or Ed25519 key")
		return nil, fmt.Errorf("none of the %d keys of the JSON Web Key Set is usable; %s",
			len(document.Keys), strings.Join(faults, "; "))
	}
	return set, nil
}

// parseKey returns the key of a JSON Web Key (RFC 7517 section 4), or an error
// if it is unusable.
func parseKey(data jsontext.Value) (*key, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, errors.New("not a JSON object in UTF-8 without duplicate names")
	}
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"} {
		if _, ok := members[name]; ok {
			return nil, errors.New("not a public key")
		}
	}
	if ops, ok := members["key_ops"]; ok {
		var names []string
		if err := json.Unmarshal(ops, &names); err != nil || !slices.Contains(names, "verify") {
			return nil, errors.New("its key_ops lack verify")
		}
	}
	// Certificates are ignored, even malformed ones.
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
			return nil, fmt.Errorf("its alg %s does not fit its type", quote(parsed.Algorithm))
		}
		algorithms = []string{parsed.Algorithm}
	}
	return &key{kid: parsed.KeyID, algorithms: algorithms, public: parsed.Key}, nil
}

// algorithmsOf returns the algorithms that a public key can be used with (RFC
// 7518 sections 3.3 to 3.5, RFC 8037 section 3.1).
func algorithmsOf(public crypto.PublicKey) ([]string, error) {
	switch public := public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits {
			return nil, fmt.Errorf("an RSA key of %d bits, fewer than %d", bits, minRSABits)
		}
		if public.N.Bit(0) == 0 || public.E%2 == 0 || public.E > math.MaxInt32 {
			return nil, errors.New("an RSA key with an invalid modulus or exponent")
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
	return nil, errors.New("an unsupported type or curve")
}
