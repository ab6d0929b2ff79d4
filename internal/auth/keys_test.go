package auth_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

type unusableKey struct {
	key   jwk
	token string
}

// unusableKeys returns keys that must not be used, each with a token that it
// would verify.
func unusableKeys(t *testing.T) map[string]unusableKey {
	issuer := authtest.NewIssuer(t)
	ec, rs := issuer.ECKey, issuer.RSAKey
	ecToken := es256(ec, "bad", claimsWith(nil))
	rsToken := compact(`{"alg":"RS256","kid":"bad"}`, claimsWith(nil), rsaSigner(rs, crypto.SHA256))
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	smallToken := compact(`{"alg":"RS256","kid":"bad"}`, claimsWith(nil), rsaSigner(small, crypto.SHA256))
	p224 := newECKey(elliptic.P224())
	newEC := func() jwk { return ecJWK(&ec.PublicKey, "bad") }
	newRSA := func() jwk { return rsaJWK(&rs.PublicKey, "bad") }
	d, err := ec.Bytes()
	must(err)
	even := new(big.Int).SetBit(rs.N, 0, 0)
	return map[string]unusableKey{
		"unknown kty":           {with(newEC(), "kty", "XX"), ecToken},
		"symmetric":             {jwk{"kty": "oct", "kid": "bad", "k": b64(make([]byte, 32))}, ecToken},
		"private EC":            {with(newEC(), "d", b64(d)), ecToken},
		"private RSA":           {with(newRSA(), "d", b64(rs.D.Bytes())), rsToken},
		"RSA with a prime":      {with(newRSA(), "p", b64(rs.Primes[0].Bytes())), rsToken},
		"small RSA":             {rsaJWK(&small.PublicKey, "bad"), smallToken},
		"huge RSA":              {with(newRSA(), "n", b64(make16384())), rsToken},
		"even modulus":          {with(newRSA(), "n", b64(even.Bytes())), rsToken},
		"exponent 1":            {with(newRSA(), "e", "AQ"), rsToken},
		"even exponent":         {with(newRSA(), "e", "Ag"), rsToken},
		"large exponent":        {with(newRSA(), "e", b64([]byte{0x80, 0, 0, 1})), rsToken},
		"huge exponent":         {with(newRSA(), "e", b64(make16384())), rsToken},
		"unknown curve":         {with(newEC(), "crv", "secp256k1"), ecToken},
		"P-224":                 {ecJWK(&p224.PublicKey, "bad"), compact(`{"alg":"ES256","kid":"bad"}`, claimsWith(nil), ecSigner(p224, crypto.SHA224))},
		"curve of another size": {with(newEC(), "crv", "P-384"), ecToken},
		"not on the curve":      {with(newEC(), "y", b64(make([]byte, 32))), ecToken},
		"no y":                  {with(newEC(), "y", nil), ecToken},
		"short Ed25519":         {edJWK(make(ed25519.PublicKey, 31), "bad"), ecToken},
		"for encryption":        {with(newEC(), "use", "enc"), ecToken},
		"alg for encryption":    {with(newRSA(), "alg", "RSA-OAEP"), rsToken},
		"alg of another type":   {with(newEC(), "alg", "RS256"), ecToken},
		"symmetric alg":         {with(newRSA(), "alg", "HS256"), rsToken},
		"key_ops sign":          {with(newEC(), "key_ops", []string{"sign"}), ecToken},
		"key_ops as string":     {with(newEC(), "key_ops", "verify"), ecToken},
		"kid as number":         {with(newEC(), "kid", 1), ecToken},
		"empty":                 {jwk{}, ecToken},
	}
}

func make16384() []byte {
	b := make([]byte, 2048)
	b[0], b[len(b)-1] = 0x80, 1
	return b
}

func TestUnusableKeysAreSkipped(t *testing.T) {
	good := newECKey(elliptic.P256())
	goodToken := es256(good, "good", claimsWith(nil))
	for name, bad := range unusableKeys(t) {
		t.Run(name, func(t *testing.T) {
			if keys, err := auth.StaticKeys(keySet(bad.key)); err == nil || keys != nil {
				t.Errorf("with no other key: got %v, %v; want an error", keys, err)
			} else if strings.ContainsAny(err.Error(), "\r\n") || !strings.Contains(err.Error(), "key 1: ") {
				t.Errorf("got %v; want one line that describes key 1", err)
			}
			v := staticVerifier(t, keySet(bad.key, ecJWK(&good.PublicKey, "good")))
			check(t, v, bad.token, auth.ErrInvalidToken)
			check(t, v, goodToken, nil)
		})
	}
}

func TestKeySetDocument(t *testing.T) {
	key := newECKey(elliptic.P256())
	good := toJSON(ecJWK(&key.PublicKey, "es256"))
	token := es256(key, "es256", claimsWith(nil))
	for name, document := range map[string]string{
		"one key":              `{"keys":[` + good + `]}`,
		"other members":        `{"x":{},"keys":[` + good + `],"y":null}`,
		"unusable, same kid":   `{"keys":[{"kty":"XX","kid":"es256"},` + good + `]}`,
		"after invalid keys":   `{"keys":[null,1,"x",[],{},{"kty":"EC","kty":"EC"},{"kty":"` + "\xff" + `"},{"kid":"\ud800"},` + good + `]}`,
		"invalid certificates": `{"keys":[` + strings.TrimSuffix(good, "}") + `,"x5c":["AAAA"],"x5u":"::","x5t":"?","x5t#S256":1}]}`,
		"use and key_ops":      `{"keys":[` + strings.TrimSuffix(good, "}") + `,"use":"sig","alg":"ES256","key_ops":["sign","verify"]}]}`,
	} {
		t.Run(name, func(t *testing.T) { check(t, staticVerifier(t, []byte(document)), token, nil) })
	}
	for name, document := range map[string]string{
		"empty":            "",
		"a key, not a set": good,
		"no keys":          `{}`,
		"keys null":        `{"keys":null}`,
		"KEYS":             `{"KEYS":[` + good + `]}`,
		"duplicate name":   `{"keys":[` + strings.TrimSuffix(good, "}") + `,"kty":"EC"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			keys, err := auth.StaticKeys([]byte(document))
			if err == nil || keys != nil {
				t.Fatalf("got %v, %v; want an error", keys, err)
			}
			if strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 500 {
				t.Errorf("got %v; want one line", err)
			}
		})
	}
}

// The alg of a key restricts it to that algorithm.
func TestKeyWithAlg(t *testing.T) {
	key := authtest.NewIssuer(t).RSAKey
	v := staticVerifier(t, keySet(with(rsaJWK(&key.PublicKey, "k"), "alg", "PS256")))
	check(t, v, compact(`{"alg":"PS256","kid":"k"}`, claimsWith(nil), pssSigner(key, crypto.SHA256)), nil)
	check(t, v, compact(`{"alg":"PS384","kid":"k"}`, claimsWith(nil), pssSigner(key, crypto.SHA384)), auth.ErrInvalidToken)
	check(t, v, compact(`{"alg":"RS256","kid":"k"}`, claimsWith(nil), rsaSigner(key, crypto.SHA256)), auth.ErrInvalidToken)
}
