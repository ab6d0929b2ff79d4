package auth_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestAlgorithms(t *testing.T) {
	p256, p384, p521 := newECKey(elliptic.P256()), newECKey(elliptic.P384()), newECKey(elliptic.P521())
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(err)
	rs := authtest.NewIssuer(t).RSAKey
	v := staticVerifier(t, keySet(
		ecJWK(&p256.PublicKey, "p256"), ecJWK(&p384.PublicKey, "p384"), ecJWK(&p521.PublicKey, "p521"),
		edJWK(ed.Public().(ed25519.PublicKey), "ed"), rsaJWK(&rs.PublicKey, "rsa"),
		rsaJWK(&rs.PublicKey, "shared"), ecJWK(&p256.PublicKey, "shared"),
	))
	none := func([]byte) []byte { return nil }
	// A public key is not a secret: it must not work as an HMAC key.
	der, err := x509.MarshalPKIXPublicKey(rs.Public())
	must(err)
	hs256 := func(input []byte) []byte {
		mac := hmac.New(sha256.New, der)
		mac.Write(input)
		return mac.Sum(nil)
	}
	for _, test := range []struct {
		alg, kid string
		sign     signer
		want     error
	}{
		{"RS256", "rsa", rsaSigner(rs, crypto.SHA256), nil},
		{"RS384", "rsa", rsaSigner(rs, crypto.SHA384), nil},
		{"RS512", "rsa", rsaSigner(rs, crypto.SHA512), nil},
		{"PS256", "rsa", pssSigner(rs, crypto.SHA256), nil},
		{"PS384", "rsa", pssSigner(rs, crypto.SHA384), nil},
		{"PS512", "rsa", pssSigner(rs, crypto.SHA512), nil},
		{"ES256", "p256", ecSigner(p256, crypto.SHA256), nil},
		{"ES384", "p384", ecSigner(p384, crypto.SHA384), nil},
		{"ES512", "p521", ecSigner(p521, crypto.SHA512), nil},
		{"EdDSA", "ed", edSigner(ed), nil},
		{"RS256", "shared", rsaSigner(rs, crypto.SHA256), nil},
		{"ES256", "shared", ecSigner(p256, crypto.SHA256), nil},
		{"ES384", "shared", ecSigner(p384, crypto.SHA384), auth.ErrInvalidToken},

		// A valid signature, but not an algorithm of this key.
		{"ES256", "p384", ecSigner(p384, crypto.SHA256), auth.ErrInvalidToken},
		{"ES384", "p256", ecSigner(p256, crypto.SHA384), auth.ErrInvalidToken},
		{"ES512", "p256", ecSigner(p256, crypto.SHA512), auth.ErrInvalidToken},
		{"RS256", "rsa", pssSigner(rs, crypto.SHA256), auth.ErrInvalidToken},
		{"PS256", "rsa", rsaSigner(rs, crypto.SHA256), auth.ErrInvalidToken},
		{"RS256", "p256", rsaSigner(rs, crypto.SHA256), auth.ErrInvalidToken},
		{"ES256", "rsa", ecSigner(p256, crypto.SHA256), auth.ErrInvalidToken},
		{"EdDSA", "p256", edSigner(ed), auth.ErrInvalidToken},

		// Not an accepted algorithm.
		{"HS256", "rsa", hs256, auth.ErrInvalidToken},
		{"none", "rsa", none, auth.ErrInvalidToken},
		{"None", "rsa", none, auth.ErrInvalidToken},
		{"", "rsa", none, auth.ErrInvalidToken},
		{"ES256K", "p256", ecSigner(p256, crypto.SHA256), auth.ErrInvalidToken},
		{"es256", "p256", ecSigner(p256, crypto.SHA256), auth.ErrInvalidToken},
		{"ES256", "p256", none, auth.ErrInvalidToken},
	} {
		t.Run(test.alg+" "+test.kid, func(t *testing.T) {
			header := fmt.Sprintf(`{"alg":%q,"kid":%q}`, test.alg, test.kid)
			check(t, v, compact(header, claimsWith(nil), test.sign), test.want)
		})
	}
}

func TestHeader(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	sign := ecSigner(issuer.ECKey, crypto.SHA256)
	invalid := auth.ErrInvalidToken
	for header, want := range map[string]error{
		`{"alg":"ES256","kid":"es256"}`:                              nil,
		` { "alg" : "ES256" , "kid" : "es256" } `:                    nil,
		`{"alg":"ES256","kid":"es256","typ":"JWT"}`:                  nil,
		`{"alg":"ES256","kid":"es256","typ":"at+jwt"}`:               nil,
		`{"alg":"ES256","kid":"es256","typ":"AT+JWT"}`:               nil,
		`{"alg":"ES256","kid":"es256","typ":"application/at+jwt"}`:   nil,
		`{"alg":"ES256","kid":"es256","typ":"Application/JWT"}`:      nil,
		`{"alg":"ES256","kid":"es256","typ":"id+jwt"}`:               invalid,
		`{"alg":"ES256","kid":"es256","typ":""}`:                     invalid,
		`{"alg":"ES256","kid":"es256","typ":null}`:                   invalid,
		`{"alg":"ES256","kid":"es256","typ":"application/x-at+jwt"}`: invalid,
		`{"alg":"ES256","kid":"es256","crit":[]}`:                    invalid,
		`{"alg":"ES256","kid":"es256","crit":["exp"],"exp":1}`:       invalid,
		`{"alg":"ES256","kid":"es256","crit":null}`:                  invalid,
		`{"alg":"ES256","kid":"es256","b64":true}`:                   invalid,
		`{"alg":"ES256","kid":"other"}`:                              invalid,
		`{"alg":"ES256","kid":"rs256"}`:                              invalid,
		`{"alg":"ES256","kid":1}`:                                    invalid,
		`{"alg":"ES256","kid":null}`:                                 invalid,
		`{"alg":"ES256","kid":"other","kid":"es256"}`:                invalid,
		`{"ALG":"ES256","kid":"es256"}`:                              invalid,
		`{"kid":"es256"}`:                                            invalid,
		`{"alg":"ES256","kid":"es256","x":"` + "\xff" + `"}`:         invalid,
	} {
		t.Run(header, func(t *testing.T) {
			check(t, v, compact(header, claimsWith(nil), sign), want)
		})
	}
}

// Keys and certificates in a token's header are ignored.
func TestKeysInTheHeaderHaveNoEffect(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	foreign := newECKey(elliptic.P256())
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, foreign.Public(), foreign)
	must(err)
	for name, value := range map[string]any{
		"jwk": ecJWK(&foreign.PublicKey, "es256"),
		"jku": "https://elsewhere.test/keys",
		"x5u": "https://elsewhere.test/certificate",
		"x5c": []string{base64.StdEncoding.EncodeToString(der)},
		"x5t": "AAAA",
	} {
		t.Run(name, func(t *testing.T) {
			for _, kid := range []string{"es256", "other", ""} {
				header := toJSON(map[string]any{"alg": "ES256", "kid": kid, name: value})
				check(t, v, compact(header, claimsWith(nil), ecSigner(foreign, crypto.SHA256)), auth.ErrInvalidToken)
				if kid != "other" {
					check(t, v, compact(header, claimsWith(nil), ecSigner(issuer.ECKey, crypto.SHA256)), nil)
				}
			}
		})
	}
}

func TestTokenWithoutKid(t *testing.T) {
	one, two := newECKey(elliptic.P256()), newECKey(elliptic.P256())
	rs := authtest.NewIssuer(t).RSAKey
	token := compact(`{"alg":"ES256"}`, claimsWith(nil), ecSigner(one, crypto.SHA256))
	single := staticVerifier(t, keySet(rsaJWK(&rs.PublicKey, "rsa"), ecJWK(&one.PublicKey, "one")))
	check(t, single, token, nil)
	check(t, single, es256(one, "", claimsWith(nil)), nil)
	unnamed := staticVerifier(t, keySet(with(ecJWK(&one.PublicKey, ""), "kid", nil)))
	check(t, unnamed, token, nil)
	check(t, unnamed, es256(one, "one", claimsWith(nil)), auth.ErrInvalidToken)
	several := staticVerifier(t, keySet(ecJWK(&one.PublicKey, "one"), ecJWK(&two.PublicKey, "two")))
	check(t, several, token, auth.ErrInvalidToken)
}

// Every change to a token makes it invalid, even one that decodes to the same
// bytes.
func TestAlteredToken(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	for _, token := range []string{issuer.Token("alice"), issuer.SignRS256(authtest.Claims("alice"))} {
		check(t, v, token, nil)
		for i := range token {
			for _, c := range []byte("Aw_.") {
				altered := []byte(token)
				if altered[i] == c {
					continue
				}
				altered[i] = c
				check(t, v, string(altered), auth.ErrInvalidToken)
			}
		}
		for _, altered := range []string{
			token + "A", token + ".", token + ".A", token[:len(token)-1], "." + token,
			token[:strings.LastIndex(token, ".")+1], token[:strings.LastIndex(token, ".")],
			nextInAlphabet(token),
		} {
			check(t, v, altered, auth.ErrInvalidToken)
		}
		check(t, v, token, nil)
	}
}

// nextInAlphabet changes only bits of the last character that decoding ignores.
func nextInAlphabet(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	i := strings.IndexByte(alphabet, token[last])
	return token[:last] + alphabet[i^1:i^1+1]
}

func TestTokenLength(t *testing.T) {
	v := authtest.NewIssuer(t).Verifier(t)
	for length, tooLong := range map[int]bool{10240: false, 10241: true} { // API Gateway's limit
		_, err := v.Authenticate(t.Context(), bearer(strings.Repeat("x", length)))
		if err == nil || strings.Contains(err.Error(), "bytes") != tooLong {
			t.Errorf("a token of %d bytes: %v", length, err)
		}
	}
}
