package auth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

const (
	es256Header   = `{"alg":"ES256","kid":"` + authtest.KeyID + `","typ":"JWT"}`
	lastingClaims = `{"iss":"` + authtest.IssuerURL + `","aud":"` + authtest.Audience + `","sub":"alice",` +
		`"exp":253402300799,"scope":"plants/read"}`
	unhashed = crypto.Hash(0) // Ed25519 signs the input itself
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func toJSON(v any) string {
	b, err := json.Marshal(v)
	must(err)
	return string(b)
}

// compact returns a token with exactly this header and payload. Unless key is nil, it signs
// the token, using only the standard library: the tests must not share bugs with the
// library that verifies tokens.
func compact(header, payload string, key crypto.Signer, opts crypto.SignerOpts) string {
	input := b64([]byte(header)) + "." + b64([]byte(payload))
	if key == nil {
		return input + "."
	}
	digest := []byte(input)
	if opts.HashFunc() != 0 {
		h := opts.HashFunc().New()
		h.Write(digest)
		digest = h.Sum(nil)
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		sig, err := key.Sign(rand.Reader, digest, opts)
		must(err)
		return input + "." + b64(sig)
	}
	r, s, err := ecdsa.Sign(rand.Reader, ec, digest)
	must(err)
	size := (ec.Curve.Params().BitSize + 7) / 8
	return input + "." + b64(append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...))
}

// claimsAnd returns [lastingClaims] with further members.
func claimsAnd(members string) string {
	return strings.TrimSuffix(lastingClaims, "}") + "," + members + "}"
}

// es256 returns a token with exactly this payload, signed by an issuer.
func es256(issuer *authtest.Issuer, payload string) string {
	return compact(es256Header, payload, issuer.ECKey, crypto.SHA256)
}

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

var (
	invalid     = auth.ErrInvalidToken.Error()
	unavailable = auth.ErrKeysUnavailable.Error()
)

// check authenticates with a token that grants plants/read. See checkResult.
func check(t *testing.T, v *auth.Verifier, token, want string) {
	t.Helper()
	caller, err := v.Authenticate(t.Context(), bearer(token), "plants/read")
	checkResult(t, caller, err, want)
	for part := range strings.SplitSeq(token, ".") {
		if err != nil && len(part) > 5 && strings.Contains(err.Error(), part) {
			t.Errorf("the error contains a part of the token: %v", err)
		}
	}
}

// checkResult checks that the caller is alice or, if want isn't empty, that the error is
// one short line that contains want. The error must match the package's error that it
// begins with.
func checkResult(t *testing.T, caller auth.Caller, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil || caller.Subject != "alice" {
			t.Errorf("got %q, %v; want alice", caller.Subject, err)
		}
		return
	}
	if err == nil || caller.Subject != "" || !strings.Contains(err.Error(), want) ||
		len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("got %q, %v; want one short line with %q", caller.Subject, err, want)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		t.Errorf("the error %v matches a context's error, which means 504", err)
	}
	for _, sentinel := range []error{
		auth.ErrNoToken, auth.ErrInvalidToken, auth.ErrExpiredToken, auth.ErrKeysUnavailable,
	} {
		if errors.Is(err, sentinel) != strings.HasPrefix(err.Error(), sentinel.Error()) {
			t.Errorf("the error %v, matches %q: %t", err, sentinel, errors.Is(err, sentinel))
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

// staticVerifier returns a verifier with these keys. It must ignore the address.
func staticVerifier(t testing.TB, jwks []byte) *auth.Verifier {
	t.Helper()
	keys, err := auth.ParseKeySet(jwks)
	must(err)
	return authtest.NewIssuer(t).Verifier(t, auth.Config{Keys: keys, KeysURL: "http://127.0.0.1:1"})
}
