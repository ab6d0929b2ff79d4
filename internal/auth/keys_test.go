package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// odd returns an odd number of this length, which a parser accepts as a modulus.
func odd(bits int) []byte {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return n.SetBit(n, 0, 1).Bytes()
}

// A key that must not be used is skipped, and the log says why. The token of each case is one
// that the key would verify.
func TestUnusableKeys(t *testing.T) {
	issuer, good := authtest.NewIssuer(t), newECKey(elliptic.P256())
	ec, rs := issuer.ECKey, issuer.RSAKey
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	d, err := ec.Bytes()
	must(err)
	short := ec // a key whose x has a leading zero
	for len(short.X.Bytes()) != 31 {
		short = newECKey(elliptic.P256())
	}
	const (
		mustBe  = "it must be a public RSA key of 2048 to 4096 bits, EC key on"
		private = "it is private: publish the public key"
	)
	ecWith := func(name string, value any) jwk { return with(newJWK(ec.Public(), "bad"), name, value) }
	rsWith := func(name string, value any) jwk { return with(newJWK(rs.Public(), "bad"), name, value) }
	withoutZero := with(newJWK(short.Public(), "bad"), "x", b64(short.X.Bytes()))
	for name, test := range map[string]struct {
		bad  jwk
		key  crypto.Signer
		want string // in the error; "" if the library has the words
	}{
		"unknown kty":           {ecWith("kty", "XX"), ec, mustBe},
		"symmetric":             {jwk{"kty": "oct", "kid": "bad", "k": b64(make([]byte, 32))}, ec, mustBe},
		"Ed448":                 {jwk{"kty": "OKP", "crv": "Ed448", "kid": "bad", "x": b64(make([]byte, 57))}, ec, mustBe},
		"private EC":            {ecWith("d", b64(d)), ec, private},
		"private, a prime":      {rsWith("p", b64(rs.Primes[0].Bytes())), rs, private},
		"private, other prime":  {rsWith("q", b64(rs.Primes[1].Bytes())), rs, private},
		"private, an exponent":  {rsWith("dp", b64(rs.Precomputed.Dp.Bytes())), rs, private},
		"private, the other":    {rsWith("dq", b64(rs.Precomputed.Dq.Bytes())), rs, private},
		"private, coefficient":  {rsWith("qi", b64(rs.Precomputed.Qinv.Bytes())), rs, private},
		"private RSA":           {newJWK(rs, "bad"), rs, private},
		"small RSA":             {newJWK(small.Public(), "bad"), small, mustBe},
		"RSA, a bit too small":  {rsWith("n", b64(odd(2047))), rs, mustBe},
		"huge RSA":              {rsWith("n", b64(odd(4097))), rs, mustBe},
		"huge exponent":         {rsWith("e", b64(odd(16384))), rs, ""},
		"curve of another size": {ecWith("crv", "P-384"), ec, "invalid EC public key, wrong length for x"},
		"without leading zero":  {withoutZero, short, "invalid EC public key, wrong length for x"},
		"another curve":         {ecWith("crv", "secp256k1\n"), ec, mustBe},
		"not on the curve":      {ecWith("y", b64(make([]byte, 32))), ec, ""},
		"padding":               {ecWith("x", b64(make([]byte, 32))+"="), ec, "illegal base64 data"},
		"padding of a modulus":  {rsWith("n", b64(rs.N.Bytes())+"=="), rs, "illegal base64 data"},
		"short Ed25519":         {jwk{"kty": "OKP", "crv": "Ed25519", "kid": "bad", "x": b64(make([]byte, 31))}, ec, ""},
		"for encryption":        {ecWith("use", "enc"), ec, `use is "enc", not "sig"`},
		"for something else":    {ecWith("use", "tls"), ec, `use is "tls", not "sig"`},
		"alg of another type":   {ecWith("alg", "RS256"), ec, `alg is "RS256", not ES256`},
		"symmetric alg":         {rsWith("alg", "HS256"), rs, `alg is "HS256", not RS256, RS384`},
		"key_ops as string":     {ecWith("key_ops", "verify"), ec, "key_ops doesn't contain verify"},
		"key_ops sign":          {ecWith("key_ops", []string{"sign"}), ec, "key_ops doesn't contain verify"},
		"kid as number":         {ecWith("kid", 1), ec, "kid is not a string"},
		"empty":                 {jwk{}, ec, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := auth.ParseKeySet(keySet(test.bad))
			if err == nil ||
				!strings.Contains(err.Error(), "the JSON Web Key Set has no usable key: the first of 1 has this fault: ") ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want one line with %q", err, test.want)
			}
			v := staticVerifier(t, keySet(newJWK(good.Public(), "good"), test.bad))
			alg, want := "ES256", "wrong signature" // by the good key
			if _, isRSA := test.key.(*rsa.PrivateKey); isRSA {
				alg, want = "RS256", "no key for RS256"
			}
			check(t, v, compact(`{"alg":"`+alg+`"}`, lastingClaims, test.key, crypto.SHA256), want)
			if test.bad["kid"] == "bad" {
				check(t, v, compact(`{"alg":"`+alg+`","kid":"bad"}`, lastingClaims, test.key, crypto.SHA256),
					`the key "bad" is unusable: `+test.want)
			}
			check(t, v, compact(`{"alg":"ES256"}`, lastingClaims, good, crypto.SHA256), "")
		})
	}
	for _, bits := range []int{2048, 4096} {
		if _, err := auth.ParseKeySet(keySet(jwk{"kty": "RSA", "n": b64(odd(bits)), "e": "AQAB"})); err != nil {
			t.Errorf("an RSA key of %d bits, without a kid: %v", bits, err)
		}
	}
}

func TestKeySetDocument(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	good := toJSON(newJWK(issuer.ECKey.Public(), authtest.KeyID))
	open := strings.TrimSuffix(good, "}")
	for name, document := range map[string]string{
		"byte order mark":    "\ufeff" + `{"keys":[` + good + `]}`,
		"duplicate member":   `{"x":1,"x":2,"keys":[],"keys":[` + good + `]}`,
		"other members":      `{"x":{},"keys":[` + good + `],"y":null}`,
		"unusable, same kid": `{"keys":[{"kty":"XX","kid":"es256"},` + good + `]}`,
		"after invalid keys": `{"keys":[null,1,"x",[],{},{"kty":"EC","kty":"EC"},` +
			`{"kty":"` + "\xff" + `"},{"kid":"\ud800"},` + good + `]}`,
		"invalid certificates": `{"keys":[` + open + `,"x5c":["AAAA"],"x5u":"::","x5t":"?","x5t#S256":1}]}`,
		"use and key_ops":      `{"keys":[` + open + `,"use":"sig","alg":"ES256","key_ops":["sign","verify"]}]}`,
		"null key_ops":         `{"keys":[` + open + `,"key_ops":null}]}`,
	} {
		t.Run(name, func(t *testing.T) { check(t, staticVerifier(t, []byte(document)), es256(issuer, lastingClaims), "") })
	}
	for document, want := range map[string]string{
		"<html>":                              "not a JSON Web Key Set, ",
		`{"KEYS":[` + good + `]}`:             "not a JSON Web Key Set, ",
		`{"keys":[]}`:                         "the JSON Web Key Set has no usable key: add a public RSA key",
		`{"keys":[1,1,1,1,1]}`:                "the JSON Web Key Set has no usable key: the first of 5 ",
		`{"keys":[` + open + `,"kty":"EC"}]}`: "the JSON Web Key Set has no usable key: the first of 1 ",
	} {
		if _, err := auth.ParseKeySet([]byte(document)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", document, err, want)
		}
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

		// Algorithms that aren't accepted; TestTokens covers the symmetric ones.
		{"none", "rsa", nil, nil, invalid},
		{"", "rsa", nil, nil, invalid},
		{"es256", "p256", p256, crypto.SHA256, invalid},
		{"ES256", "p256", nil, nil, invalid},
	} {
		header := fmt.Sprintf(`{"alg":%q,"kid":%q}`, test.alg, test.kid)
		t.Run(header, func(t *testing.T) { check(t, v, compact(header, lastingClaims, test.key, test.opts), test.want) })
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

// A key in the header isn't used, even if it has the kid of a known one.
func TestKeyInHeader(t *testing.T) {
	issuer, foreign := authtest.NewIssuer(t), newECKey(elliptic.P256())
	v := issuer.Verifier(t, auth.Config{})
	for _, kid := range []string{`"es256"`, `""`} {
		header := `{"alg":"ES256","kid":` + kid + `,"jwk":` + toJSON(newJWK(foreign.Public(), "es256")) + "}"
		check(t, v, compact(header, lastingClaims, foreign, crypto.SHA256), "wrong signature, by ES256 with key "+kid)
	}
}
