package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestAlgorithms(t *testing.T) {
	p256, p384, p521 := newECKey(elliptic.P256()), newECKey(elliptic.P384()), newECKey(elliptic.P521())
	ed, rs := newEdKey(), authtest.NewIssuer(t).RSAKey
	v := staticVerifier(t, keySet(
		newJWK(p256.Public(), "p256"), newJWK(p384.Public(), "p384"), newJWK(p521.Public(), "p521"),
		newJWK(ed.Public(), "ed"), newJWK(rs.Public(), "rsa"),
		newJWK(rs.Public(), "shared"), newJWK(p256.Public(), "shared"),
		with(newJWK(rs.Public(), "PS256 only"), "alg", "PS256"),
		with(newJWK(ed.Public(), "Ed25519 only"), "alg", "Ed25519"),
		with(newJWK(ed.Public(), "EdDSA only"), "alg", "EdDSA"),
	))
	none := func([]byte) []byte { return nil }
	invalid := auth.ErrInvalidToken
	for _, test := range []struct {
		alg, kid string
		sign     signer
		want     error
	}{
		{"RS256", "rsa", rsaSigner(rs, crypto.SHA256), nil},
		{"RS384", "rsa", rsaSigner(rs, crypto.SHA384), nil},
		{"RS512", "rsa", rsaSigner(rs, crypto.SHA512), nil},
		{"PS256", "rsa", rsaSigner(rs, pss(crypto.SHA256)), nil},
		{"PS384", "rsa", rsaSigner(rs, pss(crypto.SHA384)), nil},
		{"PS512", "rsa", rsaSigner(rs, pss(crypto.SHA512)), nil},
		{"ES256", "p256", ecSigner(p256, crypto.SHA256), nil},
		{"ES384", "p384", ecSigner(p384, crypto.SHA384), nil},
		{"ES512", "p521", ecSigner(p521, crypto.SHA512), nil},
		{"EdDSA", "ed", edSigner(ed), nil},
		{"Ed25519", "ed", edSigner(ed), nil}, // RFC 9864
		{"EdDSA", "Ed25519 only", edSigner(ed), nil},
		{"Ed25519", "Ed25519 only", edSigner(ed), nil},
		{"Ed25519", "EdDSA only", edSigner(ed), nil},
		{"RS256", "shared", rsaSigner(rs, crypto.SHA256), nil},
		{"ES256", "shared", ecSigner(p256, crypto.SHA256), nil},
		{"PS256", "PS256 only", rsaSigner(rs, pss(crypto.SHA256)), nil},

		// A valid signature, but not an algorithm of this key.
		{"ES256", "p384", ecSigner(p384, crypto.SHA256), invalid},
		{"ES512", "p256", ecSigner(p256, crypto.SHA512), invalid},
		{"PS256", "rsa", rsaSigner(rs, crypto.SHA256), invalid},
		{"RS256", "p256", rsaSigner(rs, crypto.SHA256), invalid},
		{"Ed25519", "p256", ecSigner(p256, crypto.SHA256), invalid},
		{"Ed25519", "ed", edSigner(newEdKey()), invalid},
		{"PS384", "PS256 only", rsaSigner(rs, pss(crypto.SHA384)), invalid},

		// Not an accepted algorithm; TestHeader has HS256.
		{"none", "rsa", none, invalid},
		{"", "rsa", none, invalid},
		{"es256", "p256", ecSigner(p256, crypto.SHA256), invalid},
		{"ES256", "p256", none, invalid},
	} {
		header := fmt.Sprintf(`{"alg":%q,"kid":%q}`, test.alg, test.kid)
		t.Run(header, func(t *testing.T) { check(t, v, compact(header, claimsWith(nil), test.sign), test.want) })
	}
}

func TestHeader(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t, auth.Config{})
	sign := ecSigner(issuer.ECKey, crypto.SHA256)
	for header, want := range map[string]string{ // in the error, if any
		`{"alg":"ES256","kid":"es256"}`:                                "",
		`{"alg":"ES256","kid":"es256","typ":"JWT"}`:                    "",
		`{"alg":"ES256","kid":"es256","typ":"at+jwt"}`:                 "",
		`{"alg":"ES256","kid":"es256","typ":"Application/JWT"}`:        "",
		`{"alg":"ES256","kid":"es256","typ":"application/at+jwt"}`:     "",
		`{"alg":"ES256","kid":"es256","jwk":{"kty":"x"}}`:              "malformed JOSE header",
		`{"alg":"ES256","kid":"es256","typ":"logout+jwt"}`:             `typ is "logout+jwt"`,
		`{"alg":"ES256","kid":"es256","crit":["exp"],"exp":1}`:         "header crit or b64",
		`{"alg":"ES256","kid":"es256","crit":null}`:                    "header crit or b64",
		`{"alg":"ES256","kid":"es256","b64":true}`:                     "header crit or b64",
		`{"alg":"ES256","kid":"rs256"}`:                                `no key for ES256 has the kid "rs256"`,
		`{"alg":"ES256","kid":null}`:                                   "kid is not a string",
		`{"alg":"ES256","kid":"gone` + strings.Repeat("x", 999) + `"}`: `no key for ES256 has the kid "gonexxx`,
		`{"alg":"ES256","kid":"other","kid":"es256"}`:                  "without duplicate names",
		`{"alg":"HS256","kid":"es256"}`:                                `algorithm "HS256": configure the issuer to sign with RS256`,
		`{"ALG":"ES256","kid":"es256"}`:                                "no alg",
		`{"alg":"ES256","kid":"es256","x":"` + "\xff" + `"}`:           "in UTF-8",
	} {
		t.Run(header, func(t *testing.T) { checkText(t, v, compact(header, claimsWith(nil), sign), want) })
	}
	// A key in the header isn't used.
	foreign := newECKey(elliptic.P256())
	for _, kid := range []string{"es256", ""} {
		header := toJSON(map[string]any{"alg": "ES256", "kid": kid, "jwk": newJWK(foreign.Public(), "es256")})
		check(t, v, compact(header, claimsWith(nil), ecSigner(foreign, crypto.SHA256)), auth.ErrInvalidToken)
		check(t, v, compact(header, claimsWith(nil), sign), nil)
	}
}

// Each key with the token's kid is tried or, if it has none, each key, but only a
// few.
func TestKeysWithSameKid(t *testing.T) {
	var keys []*ecdsa.PrivateKey
	named, unnamed, same := []jwk{}, []jwk{}, []jwk{newJWK(authtest.NewIssuer(t).RSAKey.Public(), "x")}
	for n := range 9 {
		key := newECKey(elliptic.P256())
		keys = append(keys, key)
		named = append(named, newJWK(key.Public(), fmt.Sprint(n)))
		unnamed = append(unnamed, with(newJWK(key.Public(), ""), "kid", nil))
		same = append(same, newJWK(key.Public(), "x"))
	}
	for n, key := range keys {
		withoutKid := compact(`{"alg":"ES256"}`, claimsWith(nil), ecSigner(key, crypto.SHA256))
		var want error
		if n == 8 {
			want = auth.ErrInvalidToken
		}
		check(t, staticVerifier(t, keySet(named...)), withoutKid, want)
		check(t, staticVerifier(t, keySet(unnamed...)), withoutKid, want)
		check(t, staticVerifier(t, keySet(unnamed...)), es256(key, "", claimsWith(nil)), want)
		check(t, staticVerifier(t, keySet(unnamed...)), es256(key, "x", claimsWith(nil)), auth.ErrInvalidToken)
		check(t, staticVerifier(t, keySet(same...)), es256(key, "x", claimsWith(nil)), want)
	}
}

// The errors of the serialization and of the signature.
func TestErrorTexts(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := staticVerifier(t, keySet(
		newJWK(issuer.ECKey.Public(), authtest.KeyID),
		jwk{"kty": "OKP", "crv": "Ed448", "kid": "ed448", "x": b64(make([]byte, 57))},
	))
	token := issuer.Token("alice")
	for _, test := range []struct{ token, want string }{
		{"ory_at_abc.def", "not a JWT, which has three parts separated by dots: configure the issuer to issue JWT access tokens"},
		{strings.Repeat("x", 10240), "not a JWT"}, // API Gateway's limit
		{strings.Repeat("x", 10241), "10241 bytes, more than 10240"},
		{"a.b.c.d.e", "an encrypted token: configure the issuer to sign"},
		{token + "=", "not base64url without padding"},
		{strings.Replace(token, ".", "\r\n.", 1), "not a JWT"},
		{es256(issuer.ECKey, "ed448", claimsWith(nil)), `the key "ed448" is unusable: go-jose/go-jose: unsupported key type`},
		{es256(newECKey(issuer.ECKey.Curve), authtest.KeyID, claimsWith(nil)), `wrong signature, by ES256 with key "es256"`},
	} {
		checkText(t, v, test.token, test.want)
	}
}

// Every change to a token makes it invalid, even one that decodes to the same
// bytes: BRhx differ from the possible last characters in bits that decoding ignores.
func TestAlteredToken(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v, token := issuer.Verifier(t, auth.Config{}), issuer.Token("alice")
	for i := range token {
		for _, c := range "BRhx_.\n" {
			if altered := token[:i] + string(c) + token[i+1:]; altered != token {
				check(t, v, altered, auth.ErrInvalidToken)
			}
		}
	}
	for _, altered := range []string{token + "A", token + ".", token + "=", token + "\n", token[:len(token)-1], "." + token} {
		check(t, v, altered, auth.ErrInvalidToken)
	}
}

// A token in the cache expires too.
func TestCachedTokenExpires(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	synctest.Test(t, func(t *testing.T) {
		v, token := issuer.Verifier(t, auth.Config{}), issuer.Token("alice")
		check(t, v, token, nil)
		time.Sleep(authtest.Lifetime + 30*time.Second - 1)
		check(t, v, token, nil)
		if n := v.Cached(); n != 1 {
			t.Errorf("%d tokens in the cache, want 1", n)
		}
		time.Sleep(time.Nanosecond)
		check(t, v, token, auth.ErrExpiredToken)
	})
}

// The cache holds signed tokens only, and not more than its bound. Only another
// token empties it.
func TestCacheIsBounded(t *testing.T) {
	issuer, other, ed := authtest.NewIssuer(t), authtest.NewIssuer(t), newEdKey()
	v := staticVerifier(t, keySet(newJWK(ed.Public(), "ed")))
	for n := range auth.MaxCached + 1 {
		token := compact(`{"alg":"EdDSA","kid":"ed"}`, claimsWith(map[string]any{"jti": n}), edSigner(ed))
		check(t, v, token, nil)
		check(t, v, token, nil)
		if got, want := v.Cached(), n%auth.MaxCached+1; got != want {
			t.Fatalf("%d tokens in the cache, want %d", got, want)
		}
	}
	v = issuer.Verifier(t, auth.Config{})
	check(t, v, other.Token("alice"), auth.ErrInvalidToken)
	if n := v.Cached(); n != 0 {
		t.Errorf("%d invalid tokens in the cache", n)
	}
}
