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
	v := staticVerifier(t, keySet(ecJWK(&ec.PublicKey, "ec"), edJWK(publicOf(ed), "ed")))
	return ec, ed, v
}

func newEdKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(nil)
	must(err)
	return key
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

const fuzzClaims = `{"iss":"` + authtest.IssuerURL + `","aud":"` + authtest.Audience + `","sub":"alice","exp":253402300799}`

// FuzzAuthenticate tries Authorization headers. The standard library must find
// that each accepted token was signed with one of the keys.
func FuzzAuthenticate(f *testing.F) {
	ec, ed, v := fuzzKeys(f)
	sign, foreign := ecSigner(ec, crypto.SHA256), newECKey(elliptic.P256())
	token := compact(`{"alg":"ES256","kid":"ec"}`, fuzzClaims, sign)
	for _, value := range []string{
		"Bearer " + token,
		"bearer  " + compact(`{"alg":"EdDSA","kid":"ed","typ":"JWT"}`, fuzzClaims, edSigner(ed)),
		"Bearer " + compact(`{"alg":"EdDSA"}`, fuzzClaims, edSigner(ed)),
		"Bearer " + compact(`{"alg":"none"}`, fuzzClaims, func([]byte) []byte { return nil }),
		"Bearer " + compact(`{"alg":"ES256","kid":"ec","b64":false,"crit":["b64"]}`, fuzzClaims, sign),
		"Bearer " + compact(toJSON(jwk{"alg": "ES256", "jwk": ecJWK(&foreign.PublicKey, "ec")}), fuzzClaims, ecSigner(foreign, crypto.SHA256)),
		"Bearer " + token + ",Bearer " + token,
		"Bearer " + token[:strings.LastIndex(token, ".")+1],
		"Bearer", "Basic YWxpY2U6", "Bearer a.b.c.d.e",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		caller, err := v.Authenticate(t.Context(), http.Header{"Authorization": {value}})
		if err != nil {
			if caller != (auth.Caller{}) {
				t.Errorf("got both the caller %+v and the error %v", caller, err)
			}
			return
		}
		token := strings.Trim(value[strings.LastIndex(strings.TrimRight(value, " \t"), " ")+1:], " \t")
		if !signedByStandardLibrary(t, token, ec, publicOf(ed)) {
			t.Errorf("accepted, but not signed: %q", value)
		}
		checkSubject(t, caller)
	})
}

func signedByStandardLibrary(t *testing.T, token string, ec *ecdsa.PrivateKey, ed ed25519.PublicKey) bool {
	dot := strings.LastIndex(token, ".")
	input := []byte(token[:dot])
	sig, err := base64.RawURLEncoding.Strict().DecodeString(token[dot+1:])
	if err != nil || len(sig) != 64 {
		t.Fatalf("accepted a signature of %d bytes, %v", len(sig), err)
	}
	hash := sha256.Sum256(input)
	r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])
	return ecdsa.Verify(&ec.PublicKey, hash[:], r, s) || ed25519.Verify(ed, input, sig)
}

func checkSubject(t *testing.T, caller auth.Caller) {
	if n := len(caller.Subject); n < 1 || n > 255 || !utf8.ValidString(caller.Subject) {
		t.Errorf("the subject %q is not 1 to 255 bytes of UTF-8", caller.Subject)
	}
}

// FuzzSigned signs headers and claims with an accepted key. The standard library
// must find the same values in each accepted token.
func FuzzSigned(f *testing.F) {
	ec, _, v := fuzzKeys(f)
	sign := ecSigner(ec, crypto.SHA256)
	const header = `{"alg":"ES256","kid":"ec"}`
	for _, h := range []string{
		header, `{"alg":"ES256","kid":"ec","typ":"at+jwt"}`, `{"alg":"ES256","typ":"application/at+jwt"}`,
		`{"alg":"ES256","x5u":"https://elsewhere.test"}`, `{"alg":"ES256","crit":["b64"],"b64":true}`, "null",
	} {
		f.Add(h, fuzzClaims)
	}
	for _, change := range [][2]string{
		{`"sub"`, `"sub":"bob","sub"`}, {`"sub"`, `"s\u0075b":"bob","sub"`}, {`"alice"`, `"\ud800"`},
		{`"aud"`, `"token_use":"access","client_id"`}, {`"` + authtest.Audience + `"`, `["x","` + authtest.Audience + `"]`},
		{`"sub"`, `"scope":"plants/read openid","nbf":1e3,"sub"`}, {`"sub"`, `"scp":["plants/read","email"],"scope":"openid","auth_time":1,"sub"`},
		{"253402300799", "2.5e11"}, {"253402300799", "1e400"}, {authtest.Audience, "other"},
	} {
		f.Add(header, strings.Replace(fuzzClaims, change[0], change[1], 1))
	}
	f.Fuzz(func(t *testing.T, header, payload string) {
		caller, err := v.Authenticate(t.Context(), bearer(compact(header, payload, sign)))
		if err != nil {
			return
		}
		checkSubject(t, caller)
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
		audience := c["aud"]
		if audience == nil && c["token_use"] == "access" {
			audience = c["client_id"]
		}
		if list, ok := audience.([]any); ok {
			for _, a := range list {
				if a == authtest.Audience {
					audience = a
				}
			}
		}
		if audience != authtest.Audience {
			t.Errorf("accepted the audience of %s", payload)
		}
		for _, name := range []string{"at_hash", "c_hash"} {
			if _, ok := c[name]; ok {
				t.Errorf("accepted the ID token %s", payload)
			}
		}
		names := append(scopeNames(c["scope"]), scopeNames(c["scp"])...)
		limited := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "plants/") })
		for _, scope := range []string{auth.ScopeRead, auth.ScopeWrite} {
			if limited && caller.Allows(scope) && !slices.Contains(names, scope) {
				t.Errorf("allows %s with %s", scope, payload)
			}
		}
	})
}

// scopeNames returns the names in a string or an array of strings.
func scopeNames(claim any) (names []string) {
	list, ok := claim.([]any)
	if !ok {
		list = []any{claim}
	}
	for _, value := range list {
		s, _ := value.(string)
		names = append(names, strings.Split(s, " ")...)
	}
	return names
}

// FuzzStaticKeys tries key sets. None may verify the signature of a new key.
func FuzzStaticKeys(f *testing.F) {
	ec, ed, _ := fuzzKeys(f)
	f.Add(keySet(ecJWK(&ec.PublicKey, "ec"), edJWK(publicOf(ed), "ed")))
	f.Add(keySet(nil, jwk{"kty": "oct", "k": "AA"}, jwk{"kty": "RSA", "n": b64(bytes.Repeat([]byte{0xff}, 256)), "e": "AQAB"}))
	f.Add(keySet(with(ecJWK(&ec.PublicKey, "ec"), "y", "AA")))
	f.Fuzz(func(t *testing.T, jwks []byte) {
		keys, err := auth.StaticKeys(jwks)
		if err != nil {
			return
		}
		v := authtest.NewIssuer(t).VerifierOf(t, auth.Config{Keys: keys})
		foreign := newECKey(elliptic.P256())
		for _, header := range []string{`{"alg":"ES256","kid":"ec"}`, `{"alg":"ES256"}`, `{"alg":"RS256"}`, `{"alg":"EdDSA"}`} {
			check(t, v, compact(header, fuzzClaims, ecSigner(foreign, crypto.SHA256)), auth.ErrInvalidToken)
		}
	})
}
