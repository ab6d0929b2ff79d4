package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

const (
	minRSABits = 2048 // RFC 7518 section 3.3; go-jose rejects more than 4096, which are slow to verify
	maxTried   = 8    // keys for a token
)

// A KeySet is a JSON Web Key Set. It doesn't change.
type KeySet struct {
	keys     []key
	document [sha256.Size]byte // the hash of its text
}

// A key verifies signatures.
type key struct {
	kid        string   // may be empty
	algorithms []string // that the key may be used with
	public     crypto.PublicKey
	err        error // why the key is unusable, or nil
}

// verify returns an error unless one of the keys signed jws, whose header is h. It
// tries the keys with the kid of h or, if h has none, all keys.
func (s *KeySet) verify(jws *jose.JSONWebSignature, h header) error {
	var tried int
	var unusable error // why a key that would have been tried wasn't
	for _, k := range s.keys {
		if h.kid != "" && h.kid != k.kid {
			continue
		}
		if k.err != nil {
			unusable = k.err
		} else if slices.Contains(k.algorithms, h.alg) && tried < maxTried {
			if _, err := jws.Verify(k.public); err == nil {
				return nil
			}
			tried++
		}
	}
	switch kid := logging.Quote(h.kid); {
	case tried > 0:
		return invalid("wrong signature, by %s with key %s", h.alg, kid)
	case unusable != nil:
		return invalid("the key %s is unusable: %v", kid, unusable)
	default:
		return invalid("no key for %s has the kid %s", h.alg, kid)
	}
}

// ParseKeySet parses a JSON Web Key Set (RFC 7517 section 5), of which at least one
// key must be usable: a public RSA key of 2048 to 4096 bits, an elliptic curve key on
// P-256, P-384 or P-521, or an Ed25519 key, whose use, key_ops and alg, if present,
// permit it to verify signatures.
func ParseKeySet(data []byte) (*KeySet, error) {
	var document struct {
		Keys []jsontext.Value `json:"keys"`
	}
	// One malformed key must not affect the others.
	if err := unmarshalLeniently(data, &document); err != nil {
		return nil, errors.New(`not a JSON Web Key Set, which looks like {"keys": […]}`)
	}
	set := &KeySet{document: sha256.Sum256(data)}
	var faults []string
	for i, value := range document.Keys {
		k := parseKey(value)
		if k.err != nil {
			faults = append(faults, fmt.Sprintf("key %d: %v", i+1, k.err))
		}
		set.keys = append(set.keys, k)
	}
	if len(faults) == len(set.keys) {
		faults = append(faults[:min(len(faults), 3)], "add at least one public RSA, EC or Ed25519 key")
		return nil, fmt.Errorf("none of the %d keys of the JSON Web Key Set is usable; %s", len(set.keys), strings.Join(faults, "; "))
	}
	return set, nil
}

// unmarshalLeniently unmarshals a document of an issuer. It accepts a byte order mark,
// duplicate names and invalid UTF-8, so that an oddity elsewhere in the document
// doesn't make the service unavailable.
func unmarshalLeniently(data []byte, v any) error {
	return json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// parseKey parses a JSON Web Key (RFC 7517 section 4). Even a key that is unusable has
// its kid, unless that can't be read.
func parseKey(data jsontext.Value) key {
	var m map[string]jsontext.Value // not of type members, whose name would be in the error
	if err := json.Unmarshal(data, &m); err != nil {
		return key{err: truncated(err)}
	}
	var k key
	if m["kid"] != nil && json.Unmarshal(m["kid"], &k.kid) != nil {
		return key{err: errors.New("its kid has another form")}
	}
	k.public, k.algorithms, k.err = publicKey(m)
	return k
}

// truncated shortens an error of a library, which may repeat parts of a key.
func truncated(err error) error { return errors.New(logging.Truncate(err.Error())) }

// publicKey returns the public key in a JSON Web Key and the algorithms that it may be
// used with, or an error if the key is unusable.
func publicKey(m members) (crypto.PublicKey, []string, error) {
	var operations []string
	if m.has("key_ops") && json.Unmarshal(m["key_ops"], &operations) != nil {
		return nil, nil, errors.New("its key_ops has another form")
	}
	switch {
	case operations != nil && !slices.Contains(operations, "verify"):
		return nil, nil, errors.New("its key_ops lack verify")
	case slices.ContainsFunc([]string{"d", "p", "q", "dp", "dq", "qi"}, m.has): // each is enough to find the others
		return nil, nil, errors.New("a private key: everybody can sign with it, so replace it")
	}
	// Certificates are ignored, even malformed ones.
	for _, name := range []string{"x5c", "x5u", "x5t", "x5t#S256"} {
		delete(m, name)
	}
	rest, err := json.Marshal(m)
	if err != nil {
		return nil, nil, err
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(rest); err != nil {
		return nil, nil, truncated(err)
	}
	if parsed.Use != "" && parsed.Use != "sig" {
		return nil, nil, fmt.Errorf("its use is %s", logging.Quote(parsed.Use))
	}
	public, algorithms, err := usableWith(parsed.Key)
	if err != nil {
		return nil, nil, err
	}
	_, isRSA := parsed.Key.(*rsa.PublicKey)
	switch alg := parsed.Algorithm; {
	case alg != "" && !slices.Contains(algorithms, alg):
		return nil, nil, fmt.Errorf("its alg %s does not fit its type", logging.Quote(alg))
	case isRSA && alg != "": // others have one algorithm, Ed25519 by two names
		algorithms = []string{alg}
	}
	return public, algorithms, nil
}

// usableWith returns a public key for go-jose, and the key's algorithms (RFC 7518
// sections 3.3 to 3.5, RFC 8037 section 3.1, RFC 9864 section 2.2).
func usableWith(public crypto.PublicKey) (crypto.PublicKey, []string, error) {
	switch public := public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits {
			return nil, nil, fmt.Errorf("an RSA key of %d bits, fewer than %d", bits, minRSABits)
		}
		return public, []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
	case *ecdsa.PublicKey:
		if alg := map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[public.Curve.Params().BitSize]; alg != "" {
			return public, []string{alg}, nil
		}
	case ed25519.PublicKey:
		return ed25519Key(public), []string{"EdDSA", "Ed25519"}, nil
	}
	return nil, nil, errors.New("an unsupported type or curve")
}

// An ed25519Key verifies signatures by both names of the algorithm; go-jose's own
// knows only EdDSA.
type ed25519Key ed25519.PublicKey

// VerifyPayload implements [jose.OpaqueVerifier].
func (k ed25519Key) VerifyPayload(payload, signature []byte, _ jose.SignatureAlgorithm) error {
	if !ed25519.Verify(ed25519.PublicKey(k), payload, signature) {
		return jose.ErrCryptoFailure
	}
	return nil
}
