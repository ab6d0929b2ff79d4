package auth_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func init() { time.Local = time.FixedZone("east", 3600) } // not UTC on any machine

// An error says what is wrong, so that a person who reads the log can tell what
// to do. It never contains the token.
func TestErrorTexts(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	keys, err := auth.StaticKeys(keySet(
		ecJWK(&issuer.ECKey.PublicKey, authtest.KeyID),
		jwk{"kty": "OKP", "crv": "Ed448", "kid": "ed448", "x": b64(make([]byte, 57))},
		rsaJWK(&small.PublicKey, "small"),
	))
	must(err)
	v := issuer.VerifierOf(t, auth.Config{Keys: keys, Audiences: []string{"plants", "web"}})
	long := strings.Repeat("x", 1000)
	good := map[string]any{"aud": "plants"}
	with := func(name string, value any) string {
		return es256(issuer.ECKey, authtest.KeyID, claimsWith(map[string]any{"aud": "plants", name: value}))
	}
	for _, test := range []struct{ token, want string }{
		{"ory_at_abc.def", "not a JWT, whose three parts have a dot between them: configure the issuer to issue JWT access tokens"},
		{"a.b.c.d.e", "an encrypted token: configure the issuer to sign"},
		{with("iss", "https://other.test/"+long), `iss is "https://other.test/x`},
		{with("aud", []string{"a", long}), `aud is ["a" "xxx`},
		{with("aud", []string{}), `aud is []`},
		{with("aud", "a"), `accepted are ["plants" "web"]`},
		{with("sub", nil), "no sub: configure the issuer to include it"},
		{with("sub", 7), "sub is not a string"},
		{with("exp", nil), "no exp"},
		{with("exp", 1), "expired at 1970-01-01T00:00:01Z"},
		{with("nbf", 9e9), "not valid before 2255-03-14T16:00:00Z"},
		{with("scope", map[string]any{}), "scope is neither a string nor an array of strings"},
		{es256(issuer.ECKey, "gone"+long, claimsWith(good)), `no key has the kid "gonexxx`},
		{es256(issuer.ECKey, "ed448", claimsWith(good)), `the key "ed448" is unusable: go-jose/go-jose: unsupported key type`},
		{es256(issuer.ECKey, "small", claimsWith(good)), `the key "small" is unusable: an RSA key of 1024 bits, fewer than 2048`},
		{es256(newECKey(issuer.ECKey.Curve), authtest.KeyID, claimsWith(good)), `wrong signature, by ES256 with key "es256"`},
		{compact(`{"alg":"HS256"}`, "{}", edSigner(newEdKey())), `algorithm "HS256": configure the issuer to sign with`},
		{compact(`{"alg":"ES256","typ":"logout+jwt"}`, "{}", edSigner(newEdKey())), `typ is "logout+jwt"`},
		{compact(`{"alg":"ES256","kid":"es256","jwk":{"kty":"x"}}`, claimsWith(good), ecSigner(issuer.ECKey, crypto.SHA256)), "malformed JOSE header"},
		{issuer.Token("alice") + "!", "not base64url without padding"},
		{issuer.Token("alice") + "=", "not base64url without padding"},
		{strings.Replace(issuer.Token("alice"), ".", "\r\n.", 1), "not a JWT"},
	} {
		_, err := v.Authenticate(t.Context(), bearer(test.token))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v; want %q in it", err, test.want)
			continue
		}
		for part := range bytes.SplitSeq([]byte(test.token), []byte(".")) {
			if len(part) > 5 && strings.Contains(err.Error(), string(part)) {
				t.Errorf("the error contains a part of the token: %v", err)
			}
		}
		if len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("not one short line: %v", err)
		}
	}
}

// An error names the address of the keys, without password and query.
func TestFetchErrorTexts(t *testing.T) {
	keys, _ := remoteKeys(t, "https://a.test/keys", transport(func(r *http.Request) *http.Response {
		if r.URL.Path == "/keys" {
			return &http.Response{StatusCode: http.StatusFound, Body: http.NoBody, Header: http.Header{"Location": {"https://b.test/login?secret"}}}
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{"Content-Type": {"text/html"}}}
	}))
	want := `GET https://b.test/login: not a JSON Web Key Set, which looks like {"keys": […]} (content type "text/html")`
	if err := keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v; want %q in it", err, want)
	}
	malformed := transport(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusFound, Body: http.NoBody, Header: http.Header{"Location": {"https://user:secret@%zz"}}}
	})
	for _, network := range []http.RoundTripper{nil, malformed} {
		keys, _ = remoteKeys(t, "http://user:secret@127.0.0.1:1/keys?secret", network)
		if err := keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "GET http://127.0.0.1:1/keys: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v; want the address without its secrets", err)
		}
	}
}

func TestIncompleteConfig(t *testing.T) {
	keys, err := auth.StaticKeys(authtest.NewIssuer(t).JWKS())
	must(err)
	for name, change := range map[string]func(*auth.Config){
		"issuer":         func(c *auth.Config) { c.Issuer = "" },
		"audiences":      func(c *auth.Config) { c.Audiences = nil },
		"empty audience": func(c *auth.Config) { c.Audiences = []string{"a", ""} },
		"keys":           func(c *auth.Config) { c.Keys = nil },
	} {
		c := auth.Config{Issuer: "i", Audiences: []string{"a"}, Keys: keys}
		change(&c)
		if v, err := auth.NewVerifier(c); err == nil || v != nil {
			t.Errorf("without %s: got %v, %v; want an error", name, v, err)
		}
	}
}
