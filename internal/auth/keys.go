package auth

import (
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
)

// RFC 7518 section 3.3 requires RSA keys of at least 2048 bits. go-jose rejects
// those of more than 4096, which are slow to verify.
const minRSABits = 2048

// A key verifies signatures.
type key struct {
	kid        string   // may be empty
	algorithms []string // that the key may be used with
	public     crypto.PublicKey
}

// A keySet is a JSON Web Key Set. It doesn't change.
type keySet struct {
	keys     []*key
	unusable map[string]error // why, by kid
	scopes   []string         // that the issuer's metadata names, if the keys come from there
}

// verify returns an error unless one of the keys signed jws, whose header is h.
func (s *keySet) verify(jws *jose.JSONWebSignature, h header) error {
	k, err := s.find(h)
	if err != nil {
		return err
	}
	if _, err := jws.Verify(k.public); err != nil {
		return invalid("wrong signature, by %s with key %s", h.alg, quote(h.kid))
	}
	return nil
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

// parseKeySet returns the usable keys of a JSON Web Key Set (RFC 7517 section 5),
// at least one: public RSA keys of 2048 to 4096 bits, elliptic curve keys on P-256,
// P-384 or P-521, and Ed25519 keys, whose use, key_ops and alg, if present, permit
// them to verify signatures.
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
		faults = append(faults[:min(len(faults), 3)], "add at least one public RSA, EC or Ed25519 key")
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
	if kid, ok := members["kid"]; ok && kid.Kind() != '"' && kid.Kind() != 'n' {
		return nil, errors.New("its kid is not a string")
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
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
	case *ecdsa.PublicKey:
		if alg := map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[public.Curve.Params().BitSize]; alg != "" {
			return []string{alg}, nil
		}
	case ed25519.PublicKey:
		return []string{"EdDSA"}, nil
	}
	return nil, errors.New("an unsupported type or curve")
}
