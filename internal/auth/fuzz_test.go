package auth_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// fuzzKeys returns fixed keys, which verify tokens that fuzzing has found.
func fuzzKeys(t testing.TB) (*ecdsa.PrivateKey, ed25519.PrivateKey, *auth.Verifier) {
	seed := bytes.Repeat([]byte{42}, 32)
	ec, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed)
	must(err)
	ed := ed25519.NewKeyFromSeed(seed)
	return ec, ed, staticVerifier(t, keySet(newJWK(ec.Public(), "ec"), newJWK(ed.Public(), "ed")))
}

const (
	fuzzHeader = `{"alg":"ES256","kid":"ec"}`
	fuzzClaims = `{"iss":"` + authtest.IssuerURL + `","aud":"` + authtest.Audience + `","sub":"alice","exp":253402300799}`
)

// FuzzAuthenticate tries Authorization headers. The standard library must find
// that each accepted token was signed with one of the keys.
func FuzzAuthenticate(f *testing.F) {
	ec, ed, v := fuzzKeys(f)
	token := compact(fuzzHeader, fuzzClaims, ecSigner(ec, crypto.SHA256))
	for _, value := range []string{
		"Bearer " + token,
		"bearer  " + compact(`{"alg":"EdDSA","kid":"ed","typ":"JWT"}`, fuzzClaims, edSigner(ed)),
		"Bearer " + compact(`{"alg":"none"}`, fuzzClaims, func([]byte) []byte { return nil }),
		"Bearer " + token + ",Bearer " + token,
		"Bearer", "Basic YWxpY2U6", "Bearer a.b.c.d.e",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if _, err := v.Authenticate(t.Context(), http.Header{"Authorization": {value}}); err != nil {
			return
		}
		token := strings.Trim(value[strings.LastIndex(strings.TrimRight(value, " \t"), " ")+1:], " \t")
		dot := strings.LastIndex(token, ".")
		input := []byte(token[:dot])
		sig, err := base64.RawURLEncoding.Strict().DecodeString(token[dot+1:])
		if err != nil || len(sig) != 64 {
			t.Fatalf("accepted a signature of %d bytes, %v", len(sig), err)
		}
		hash := sha256.Sum256(input)
		r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])
		if !ecdsa.Verify(&ec.PublicKey, hash[:], r, s) && !ed25519.Verify(ed.Public().(ed25519.PublicKey), input, sig) {
			t.Errorf("accepted, but not signed: %q", value)
		}
	})
}

// FuzzSigned signs headers and claims with an accepted key. The standard library
// must find the same values in each accepted token.
func FuzzSigned(f *testing.F) {
	ec, _, v := fuzzKeys(f)
	f.Add(`{"alg":"ES256","typ":"application/at+jwt","x5u":"https://elsewhere.test"}`, fuzzClaims)
	f.Add(`{"alg":"ES256","crit":["b64"],"b64":true}`, fuzzClaims)
	for _, change := range [][2]string{
		{`"sub"`, `"sub":"bob","sub"`}, {`"sub"`, `"s\u0075b":"bob","sub"`}, {`"alice"`, `"\ud800"`}, {`"alice"`, `" Alice\u0000e\u0301 "`},
		{`"aud"`, `"token_use":"access","client_id"`}, {`"` + authtest.Audience + `"`, `["x","` + authtest.Audience + `"]`},
		{`"sub"`, `"scp":["plants/read","email"],"scope":"openid","auth_time":1,"sub"`},
		{"253402300799", "2.5e11"}, {"253402300799", "1e400"}, {authtest.Audience, "other"},
	} {
		f.Add(fuzzHeader, strings.Replace(fuzzClaims, change[0], change[1], 1))
	}
	f.Fuzz(func(t *testing.T, header, payload string) {
		caller, err := v.Authenticate(t.Context(), bearer(compact(header, payload, ecSigner(ec, crypto.SHA256))))
		if err != nil {
			return
		}
		var h, c map[string]any
		if json.Unmarshal([]byte(header), &h) != nil || json.Unmarshal([]byte(payload), &c) != nil {
			t.Fatalf("accepted invalid JSON: %s %s", header, payload)
		}
		if h["alg"] != "ES256" || h["crit"] != nil || h["b64"] != nil {
			t.Errorf("accepted the header %s", header)
		}
		exp, ok := c["exp"].(float64)
		if !ok || exp < float64(time.Now().Unix()-31) || c["iss"] != authtest.IssuerURL || c["sub"] != caller.Subject {
			t.Errorf("accepted the claims %s as %q", payload, caller.Subject)
		}
		if n := len(caller.Subject); n < 1 || n > 255 || !utf8.ValidString(caller.Subject) {
			t.Errorf("the subject %q is not 1 to 255 bytes of UTF-8", caller.Subject)
		}
		if c["aud"] == nil && c["token_use"] != nil {
			c["aud"] = c["client_id"]
		}
		if list, _ := c["aud"].([]any); c["aud"] != authtest.Audience && !slices.Contains(list, any(authtest.Audience)) {
			t.Errorf("accepted the audience of %s", payload)
		}
	})
}
