package auth_test

import (
	"crypto"
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

const usableKey = "a public RSA key of 2048 to 4096 bits, EC key on P-256, P-384 or P-521, or Ed25519 key, for signatures"

// A key that must not be used is skipped. The token of each case is one that the key would
// verify. It has no kid, so that each key is tried.
func TestUnusableKeysAreSkipped(t *testing.T) {
	issuer, good := authtest.NewIssuer(t), newECKey(elliptic.P256())
	ec, rs := issuer.ECKey, issuer.RSAKey
	ecToken := compact(`{"alg":"ES256"}`, lastingClaims, ec, crypto.SHA256)
	rsToken := compact(`{"alg":"RS256"}`, lastingClaims, rs, crypto.SHA256)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	d, err := ec.Bytes()
	must(err)
	ecWith := func(name string, value any) jwk { return with(newJWK(ec.Public(), "bad"), name, value) }
	rsWith := func(name string, value any) jwk { return with(newJWK(rs.Public(), "bad"), name, value) }
	for name, test := range map[string]struct {
		bad   jwk
		token string
	}{
		"unknown kty":           {ecWith("kty", "XX"), ecToken},
		"symmetric":             {jwk{"kty": "oct", "kid": "bad", "k": b64(make([]byte, 32))}, ecToken},
		"private EC":            {ecWith("d", b64(d)), ecToken},
		"private, a prime":      {rsWith("p", b64(rs.Primes[0].Bytes())), rsToken},
		"private, other prime":  {rsWith("q", b64(rs.Primes[1].Bytes())), rsToken},
		"private, an exponent":  {rsWith("dp", b64(rs.Precomputed.Dp.Bytes())), rsToken},
		"private, the other":    {rsWith("dq", b64(rs.Precomputed.Dq.Bytes())), rsToken},
		"private, coefficient":  {rsWith("qi", b64(rs.Precomputed.Qinv.Bytes())), rsToken},
		"private RSA":           {newJWK(rs, "bad"), rsToken},
		"small RSA":             {newJWK(small.Public(), "bad"), compact(`{"alg":"RS256"}`, lastingClaims, small, crypto.SHA256)},
		"RSA, a bit too small":  {rsWith("n", b64(odd(2047))), rsToken},
		"huge RSA":              {rsWith("n", b64(odd(4097))), rsToken},
		"huge exponent":         {rsWith("e", b64(odd(16384))), rsToken},
		"curve of another size": {ecWith("crv", "P-384"), ecToken},
		"not on the curve":      {ecWith("y", b64(make([]byte, 32))), ecToken},
		"short Ed25519":         {jwk{"kty": "OKP", "crv": "Ed25519", "kid": "bad", "x": b64(make([]byte, 31))}, ecToken},
		"for encryption":        {ecWith("use", "enc"), ecToken},
		"alg of another type":   {ecWith("alg", "RS256"), ecToken},
		"symmetric alg":         {rsWith("alg", "HS256"), rsToken},
		"key_ops as string":     {ecWith("key_ops", "verify"), ecToken},
		"key_ops sign":          {ecWith("key_ops", []string{"sign"}), ecToken},
		"kid as number":         {ecWith("kid", 1), ecToken},
		"empty":                 {jwk{}, ecToken},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := auth.ParseKeySet(keySet(test.bad)); err == nil || err.Error() != "none of the 1 keys of the JSON Web Key Set is usable: add "+usableKey {
				t.Errorf("got %v; want one line that describes usable keys", err)
			}
			v := staticVerifier(t, keySet(test.bad, newJWK(good.Public(), "good")))
			check(t, v, test.token, invalid)
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
		"byte order mark":      "\ufeff" + `{"keys":[` + good + `]}`,
		"duplicate member":     `{"x":1,"x":2,"keys":[],"keys":[` + good + `]}`,
		"other members":        `{"x":{},"keys":[` + good + `],"y":null}`,
		"unusable, same kid":   `{"keys":[{"kty":"XX","kid":"es256"},` + good + `]}`,
		"after invalid keys":   `{"keys":[null,1,"x",[],{},{"kty":"EC","kty":"EC"},{"kty":"` + "\xff" + `"},{"kid":"\ud800"},` + good + `]}`,
		"invalid certificates": `{"keys":[` + open + `,"x5c":["AAAA"],"x5u":"::","x5t":"?","x5t#S256":1}]}`,
		"use and key_ops":      `{"keys":[` + open + `,"use":"sig","alg":"ES256","key_ops":["sign","verify"]}]}`,
	} {
		t.Run(name, func(t *testing.T) { check(t, staticVerifier(t, []byte(document)), es256(issuer, lastingClaims), "") })
	}
	for document, want := range map[string]string{
		"<html>":                              "not a JSON Web Key Set, ",
		`{"KEYS":[` + good + `]}`:             "none of the 0 keys ",
		`{"keys":[1,1,1,1,1]}`:                "none of the 5 keys ",
		`{"keys":[` + open + `,"kty":"EC"}]}`: "none of the 1 keys ",
	} {
		if _, err := auth.ParseKeySet([]byte(document)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", document, err, want)
		}
	}
}

// An unusable key keeps its kid, so that the log names it.
func TestUnusableKeyHasItsKid(t *testing.T) {
	good, bad := newECKey(elliptic.P256()), newECKey(elliptic.P256())
	keys := []jwk{newJWK(good.Public(), "good")}
	for n := range 20 { // several, so that the test can't pass by chance
		keys = append(keys, with(newJWK(bad.Public(), fmt.Sprint(n)), "key_ops", "verify"))
	}
	v := staticVerifier(t, keySet(keys...))
	for n := range 20 {
		token := compact(fmt.Sprintf(`{"alg":"ES256","kid":"%d"}`, n), lastingClaims, bad, crypto.SHA256)
		check(t, v, token, fmt.Sprintf(`the key "%d" is unusable: it must be `, n)+usableKey)
	}
}
