package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/go-jose/go-jose/v4"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A signer signs the input of a JWS. It uses only the standard library, so that
// the tests don't share bugs with the library that verifies.
type signer func(input []byte) []byte

func ecSigner(key *ecdsa.PrivateKey, hash crypto.Hash) signer {
	return func(input []byte) []byte {
		r, s, err := ecdsa.Sign(rand.Reader, key, digest(hash, input))
		must(err)
		size := (key.Curve.Params().BitSize + 7) / 8
		sig := make([]byte, 2*size)
		r.FillBytes(sig[:size])
		s.FillBytes(sig[size:])
		return sig
	}
}

// rsaSigner makes a PKCS #1 v1.5 signature if opts is a hash.
func rsaSigner(key *rsa.PrivateKey, opts crypto.SignerOpts) signer {
	return func(input []byte) []byte {
		sig, err := key.Sign(rand.Reader, digest(opts.HashFunc(), input), opts)
		must(err)
		return sig
	}
}

func pss(hash crypto.Hash) crypto.SignerOpts {
	return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
}

func edSigner(key ed25519.PrivateKey) signer {
	return func(input []byte) []byte { return ed25519.Sign(key, input) }
}

func digest(hash crypto.Hash, input []byte) []byte {
	h := hash.New()
	h.Write(input)
	return h.Sum(nil)
}

// bubble returns a subtest for which no time passes while it works; see
// [synctest.Test]. Then the keys always arrive within a second.
func bubble(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// compact returns a token with exactly this header and payload.
func compact(header, payload string, sign signer) string {
	input := b64([]byte(header)) + "." + b64([]byte(payload))
	return input + "." + b64(sign([]byte(input)))
}

// es256 returns a token with exactly this payload, signed with ES256.
func es256(key *ecdsa.PrivateKey, kid, payload string) string {
	return compact(fmt.Sprintf(`{"alg":"ES256","kid":%q}`, kid), payload, ecSigner(key, crypto.SHA256))
}

// claimsWith returns the claims of a valid token of alice as JSON, with some
// changed or, if nil, removed.
func claimsWith(changes map[string]any) string {
	claims := authtest.Claims("alice")
	for name, value := range changes {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
	return toJSON(claims)
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	must(err)
	return string(b)
}

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// check authenticates with token. If want is nil, the caller must be alice;
// otherwise the error must match want, and no other error of the package.
func check(t *testing.T, v *auth.Verifier, token string, want error) {
	t.Helper()
	caller, err := v.Authenticate(t.Context(), bearer(token))
	checkResult(t, caller, err, want)
}

func checkResult(t *testing.T, caller auth.Caller, err, want error) {
	t.Helper()
	if want == nil {
		if err != nil || caller.Subject != "alice" {
			t.Errorf("got %q, %v; want alice", caller.Subject, err)
		}
		return
	}
	if caller.Subject != "" {
		t.Errorf("got both the caller %+v and an error", caller)
	}
	all := []error{auth.ErrNoToken, auth.ErrInvalidToken, auth.ErrExpiredToken, auth.ErrKeysUnavailable}
	for _, sentinel := range all {
		if errors.Is(err, sentinel) != errors.Is(want, sentinel) {
			t.Errorf("got the error %v; want one that matches only %q", err, want)
		}
	}
}

// A jwk is a JSON Web Key, valid or not.
type jwk = map[string]any

func keySet(keys ...jwk) []byte { return []byte(toJSON(map[string]any{"keys": keys})) }

// newJWK returns the JSON Web Key of a public key.
func newJWK(public crypto.PublicKey, kid string) (key jwk) {
	must(json.Unmarshal([]byte(toJSON(jose.JSONWebKey{Key: public, KeyID: kid})), &key))
	return key
}

func with(key jwk, name string, value any) jwk {
	key[name] = value
	return key
}

func newEdKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(nil)
	must(err)
	return key
}

func newECKey(curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	must(err)
	return key
}

// staticVerifier returns a verifier with these keys.
func staticVerifier(t testing.TB, jwks []byte) *auth.Verifier {
	t.Helper()
	keys, err := auth.ParseKeySet(jwks)
	if err != nil {
		t.Fatal(err)
	}
	return authtest.NewIssuer(t).Verifier(t, auth.Config{Keys: keys})
}
