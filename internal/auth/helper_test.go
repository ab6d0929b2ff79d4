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
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

const (
	es256Header   = `{"alg":"ES256","kid":"` + authtest.KeyID + `","typ":"JWT"}`
	lastingClaims = `{"iss":"` + authtest.IssuerURL + `","aud":"` + authtest.Audience + `","sub":"alice","exp":253402300799}`
	unhashed      = crypto.Hash(0) // Ed25519 signs the input itself
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
	expired     = auth.ErrExpiredToken.Error()
	unavailable = auth.ErrKeysUnavailable.Error()
)

// check authenticates with token. See checkResult.
func check(t *testing.T, v *auth.Verifier, token, want string) {
	t.Helper()
	caller, err := v.Authenticate(t.Context(), bearer(token))
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
	if err == nil || caller.Subject != "" || !strings.Contains(err.Error(), want) || len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\r\n") {
		t.Fatalf("got %q, %v; want one short line with %q", caller.Subject, err, want)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		t.Errorf("the error %v matches a context's error, which means 504", err)
	}
	for _, sentinel := range []error{auth.ErrNoToken, auth.ErrInvalidToken, auth.ErrExpiredToken, auth.ErrKeysUnavailable} {
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

// A remoteIssuer publishes its key.
type remoteIssuer struct {
	site
	key   ed25519.PrivateKey
	v     *auth.Verifier
	clock auth.Clock // of v
}

// newRemoteIssuer returns an issuer. If there are kids, its key is already loaded.
func newRemoteIssuer(t *testing.T, kids ...string) *remoteIssuer {
	t.Helper()
	i := &remoteIssuer{key: newEdKey()}
	i.v = newVerifier(t, auth.Config{KeysURL: keysURL}, i, io.Discard)
	i.v.SetClock(&i.clock)
	i.set(0, kids...)
	if kids != nil {
		must(i.v.Load(t.Context()))
		i.fetches()
	}
	return i
}

// set makes the issuer publish the key under these kids. Without kids, the issuer responds
// with status 404.
func (i *remoteIssuer) set(delay time.Duration, kids ...string) {
	pages := map[string]string{}
	if len(kids) > 0 {
		var keys []jwk
		for _, kid := range kids {
			keys = append(keys, newJWK(i.key.Public(), kid))
		}
		pages[keysURL] = string(keySet(keys...))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.delay, i.pages = delay, pages
}

// fetches returns the number of requests since the last call.
func (i *remoteIssuer) fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.requests)
	i.requests = nil
	return n
}

// token returns the same token each time.
func (i *remoteIssuer) token(kid string) string {
	return compact(fmt.Sprintf(`{"alg":"EdDSA","kid":%q}`, kid), lastingClaims, i.key, unhashed)
}

// check is like the function check, for a token with this kid. It must take exactly took,
// and there must be this number of fetches since the last check.
func (i *remoteIssuer) check(t *testing.T, kid, want string, took time.Duration, fetches int) {
	t.Helper()
	i.took(t, kid, want, took)
	if n := i.fetches(); n != fetches {
		t.Errorf("%d fetches, want %d", n, fetches)
	}
}

// took is like check, but doesn't count the fetches.
func (i *remoteIssuer) took(t *testing.T, kid, want string, took time.Duration) {
	t.Helper()
	start := time.Now()
	check(t, i.v, i.token(kid), want)
	if d := time.Since(start); d != took {
		t.Errorf("took %v, want %v", d, took)
	}
}

const (
	ms     = time.Millisecond
	atOnce = 0
)
