package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// No configuration accepts everybody.
func TestInvalidConfig(t *testing.T) {
	keys, err := auth.ParseKeySet(authtest.NewIssuer(t).JWKS())
	must(err)
	for _, c := range []auth.Config{
		{},
		{Audiences: []string{"a"}, Keys: keys},
		{Issuer: "i", Keys: keys},
		{Issuer: "i", Audiences: []string{"a", ""}, Keys: keys},
		{Issuer: "https://a.test/%", Audiences: []string{"a"}},
	} {
		if v, err := auth.New(c, []string{"plants/read"}, http.DefaultClient, slog.New(slog.DiscardHandler)); err == nil || v != nil {
			t.Errorf("%+v: got %v, %v", c, v, err)
		}
	}
	// Only the address of metadata is derived from the issuer.
	for _, c := range []auth.Config{{Keys: keys}, {KeysURL: keysURL}} {
		c.Issuer, c.Audiences = "https://a.test/%", []string{"a"}
		if _, err := auth.New(c, []string{"plants/read"}, http.DefaultClient, slog.New(slog.DiscardHandler)); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The scheme is case-insensitive. Several headers are invalid, even if each alone is valid.
func TestAuthorizationHeader(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v, token, none := issuer.Verifier(t, auth.Config{}), issuer.Token("alice"), auth.ErrNoToken.Error()+": "
	for _, test := range []struct {
		values []string
		want   string // in the error, if any
	}{
		{[]string{"Bearer " + token}, ""},
		{[]string{" bEARER   " + token + "\t"}, ""},
		{nil, none},
		{[]string{""}, none},
		{[]string{"Bearer "}, none},
		{[]string{token}, none},
		{[]string{"Basic " + token}, none},
		{[]string{"Bearer bearer " + token}, invalid + `: the token begins with "Bearer": send that word once`},
		{[]string{"Bearer " + token, "Bearer " + token}, "2 Authorization headers"},
		{[]string{"Basic x", "Bearer " + token}, "2 Authorization headers"},
	} {
		caller, err := v.Authenticate(t.Context(), http.Header{"Authorization": test.values})
		checkResult(t, caller, err, test.want)
	}
}

func TestAlgorithms(t *testing.T) {
	p256, p384, p521 := newECKey(elliptic.P256()), newECKey(elliptic.P384()), newECKey(elliptic.P521())
	ed, rs := newEdKey(), authtest.NewIssuer(t).RSAKey
	v := staticVerifier(t, keySet(
		newJWK(p256.Public(), "p256"), newJWK(p384.Public(), "p384"), newJWK(p521.Public(), "p521"),
		newJWK(ed.Public(), "ed"), newJWK(rs.Public(), "rsa"),
		with(newJWK(rs.Public(), "PS256 only"), "alg", "PS256"),
		with(newJWK(ed.Public(), "Ed25519 only"), "alg", "Ed25519"),
		with(newJWK(ed.Public(), "EdDSA only"), "alg", "EdDSA"),
	))
	pss := func(hash crypto.Hash) crypto.SignerOpts {
		return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	for _, test := range []struct {
		alg, kid string
		key      crypto.Signer
		opts     crypto.SignerOpts
		want     string
	}{
		{"RS256", "rsa", rs, crypto.SHA256, ""},
		{"RS384", "rsa", rs, crypto.SHA384, ""},
		{"RS512", "rsa", rs, crypto.SHA512, ""},
		{"PS256", "rsa", rs, pss(crypto.SHA256), ""},
		{"PS384", "rsa", rs, pss(crypto.SHA384), ""},
		{"PS512", "rsa", rs, pss(crypto.SHA512), ""},
		{"ES256", "p256", p256, crypto.SHA256, ""},
		{"ES384", "p384", p384, crypto.SHA384, ""},
		{"ES512", "p521", p521, crypto.SHA512, ""},
		{"EdDSA", "ed", ed, unhashed, ""},
		{"Ed25519", "ed", ed, unhashed, ""}, // RFC 9864
		{"EdDSA", "Ed25519 only", ed, unhashed, ""},
		{"Ed25519", "Ed25519 only", ed, unhashed, ""},
		{"Ed25519", "EdDSA only", ed, unhashed, ""},
		{"PS256", "PS256 only", rs, pss(crypto.SHA256), ""},

		// The key doesn't support the algorithm, even if the signature is valid.
		{"ES256", "p384", p384, crypto.SHA256, invalid},
		{"PS256", "rsa", rs, crypto.SHA256, invalid},
		{"Ed25519", "p256", p256, crypto.SHA256, invalid},
		{"Ed25519", "ed", newEdKey(), unhashed, invalid},
		{"PS384", "PS256 only", rs, pss(crypto.SHA384), invalid},

		// Algorithms that aren't accepted; TestHeader covers the symmetric ones.
		{"none", "rsa", nil, nil, invalid},
		{"", "rsa", nil, nil, invalid},
		{"es256", "p256", p256, crypto.SHA256, invalid},
		{"ES256", "p256", nil, nil, invalid},
	} {
		header := fmt.Sprintf(`{"alg":%q,"kid":%q}`, test.alg, test.kid)
		t.Run(header, func(t *testing.T) { check(t, v, compact(header, lastingClaims, test.key, test.opts), test.want) })
	}
}

func TestHeader(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := staticVerifier(t, keySet(
		newJWK(issuer.ECKey.Public(), authtest.KeyID),
		jwk{"kty": "OKP", "crv": "Ed448", "kid": "ed448", "x": b64(make([]byte, 57))},
	))
	must(v.Load(t.Context()))                    // fetches nothing
	for header, want := range map[string]string{ // in the error, if any
		`{"alg":"ES256","kid":"es256"}`:                                "",
		`{"alg":"ES256","kid":"es256","typ":"Application/JWT"}`:        "",
		`{"alg":"ES256","kid":"es256","typ":"application/at+jwt"}`:     "",
		`{"alg":"ES256","kid":"es256","jwk":{"kty":"x"}}`:              "malformed JOSE header",
		`{"alg":"ES256","kid":"es256","typ":"logout+jwt"}`:             `typ is "logout+jwt"`,
		`{"alg":"ES256","kid":"es256","typ":""}`:                       `typ is ""`,
		`{"alg":"ES256","kid":"es256","typ":null}`:                     "typ is not a string",
		`{"alg":"ES256","kid":"es256","typ":"application/x-at+jwt"}`:   `typ is "application/x-at+jwt"`,
		`{"alg":"ES256","kid":"es256","crit":["exp"],"exp":1}`:         "header crit or b64",
		`{"alg":"ES256","kid":"es256","crit":null}`:                    "header crit or b64",
		`{"alg":"ES256","kid":"es256","b64":true}`:                     "header crit or b64",
		`{"alg":"ES256","kid":"rs256"}`:                                `no key for ES256 has the kid "rs256"`,
		`{"alg":"ES256","kid":"ed448"}`:                                `the key "ed448" is unusable: it must be a public RSA key`,
		`{"alg":"ES256","kid":null}`:                                   "kid is not a string",
		`{"alg":"ES256","kid":"gone` + strings.Repeat("x", 600) + `"}`: `no key for ES256 has the kid "gonexxx`,
		`{"alg":"ES256","kid":"other","kid":"es256"}`:                  "without duplicate names",
		`{"alg":"HS256","kid":"es256"}`:                                `algorithm "HS256": configure the issuer to sign with RS256`,
		`{"alg":"HS384","kid":"es256"}`:                                `algorithm "HS384"`,
		`{"alg":"HS512","kid":"es256"}`:                                `algorithm "HS512"`,
		`{"ALG":"ES256","kid":"es256"}`:                                "no alg",
	} {
		t.Run(header, func(t *testing.T) { check(t, v, compact(header, lastingClaims, issuer.ECKey, crypto.SHA256), want) })
	}
	// The length is limited, since the library takes milliseconds for a header of 8 KiB.
	for length, want := range map[int]string{768: "", 769: "a header of 1026 bytes, more than 1024"} {
		header := strings.TrimSuffix(es256Header, "}") + `,"x":"` // and "}
		header += strings.Repeat("x", length-len(header)-2) + `"}`
		check(t, v, compact(header, lastingClaims, issuer.ECKey, crypto.SHA256), want)
	}
	// A key in the header isn't used.
	foreign := newECKey(elliptic.P256())
	for _, kid := range []string{`"es256"`, `""`} {
		header := `{"alg":"ES256","kid":` + kid + `,"jwk":` + toJSON(newJWK(foreign.Public(), "es256")) + "}"
		check(t, v, compact(header, lastingClaims, foreign, crypto.SHA256), "wrong signature, by ES256 with key "+kid)
		check(t, v, compact(header, lastingClaims, issuer.ECKey, crypto.SHA256), "")
	}
}

// The first eight suitable keys with the token's kid are tried. If the token has no kid,
// the first eight suitable keys are. A key without a kid doesn't match every kid.
func TestKeysWithSameKid(t *testing.T) {
	keys := []jwk{newJWK(authtest.NewIssuer(t).RSAKey.Public(), "x")}
	var signers []*ecdsa.PrivateKey
	for range 9 {
		key := newECKey(elliptic.P256())
		signers = append(signers, key)
		keys = append(keys, newJWK(key.Public(), "x"))
	}
	v := staticVerifier(t, keySet(keys...))
	for n, key := range signers {
		want := ""
		if n == 8 {
			want = invalid
		}
		check(t, v, compact(`{"alg":"ES256"}`, lastingClaims, key, crypto.SHA256), want)
		check(t, v, compact(`{"alg":"ES256","kid":""}`, lastingClaims, key, crypto.SHA256), want)
		check(t, v, compact(`{"alg":"ES256","kid":"x"}`, lastingClaims, key, crypto.SHA256), want)
		check(t, v, compact(`{"alg":"ES256","kid":"y"}`, lastingClaims, key, crypto.SHA256), invalid)
	}
	unnamed := staticVerifier(t, keySet(newJWK(signers[0].Public(), "")))
	check(t, unnamed, compact(`{"alg":"ES256"}`, lastingClaims, signers[0], crypto.SHA256), "")
	check(t, unnamed, compact(`{"alg":"ES256","kid":"y"}`, lastingClaims, signers[0], crypto.SHA256), invalid)
}

func TestSerialization(t *testing.T) {
	v := authtest.NewIssuer(t).Verifier(t, auth.Config{})
	for token, want := range map[string]string{
		"ory_at_abc.def":           "not a JWT, which has three parts separated by dots: configure the issuer to issue JWT access tokens",
		strings.Repeat("x", 10240): "not a JWT", // API Gateway's limit
		strings.Repeat("x", 10241): "10241 bytes, more than 10240",
		"a.b.c.d.e":                "an encrypted token: configure the issuer to sign",
		"a.b.c.d.e.f":              "not a JWT",
		"a.b.c=":                   "part 1 is not base64url without padding",
	} {
		check(t, v, token, want)
	}
}

// Every change to a token makes it invalid, even one that decodes to the same bytes. The
// letters BRhx differ from the possible last characters only in bits that decoding ignores.
func TestAlteredToken(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v, token := issuer.Verifier(t, auth.Config{}), issuer.Token("alice")
	for i := range len(token) + 1 {
		for _, c := range "BRhx_.=\r\n" {
			check(t, v, token[:i]+string(c)+token[i:], invalid)
			if i < len(token) && token[i] != byte(c) {
				check(t, v, token[:i]+string(c)+token[i+1:], invalid)
			}
		}
	}
}
