package auth_test

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/plantstore/internal/auth/authtest"
)

const edHeader = `{"alg":"EdDSA"}`

// FuzzSigned signs headers and claims with an accepted key. The standard library
// must find the same values in each accepted token.
func FuzzSigned(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // fixed, so that what was found remains valid
	v := staticVerifier(f, keySet(newJWK(key.Public(), "")))
	f.Add(`{"alg":"Ed25519","crit":["b64"],"b64":true}`, lastingClaims)
	for _, change := range [][2]string{
		{`"sub"`, `"sub":"bob","sub"`}, {`"sub"`, `"s\u0075b":"bob","sub"`},
		{`"alice"`, `"\ud800"`}, {`"alice"`, `" Alice\u0000e\u0301 "`},
		{`"aud"`, `"token_use":"access","client_id"`}, {`"` + authtest.Audience + `"`, `["x","` + authtest.Audience + `"]`},
		{"253402300799", "2.5e11"}, {"253402300799", "1e400"}, {authtest.Audience, "other"},
	} {
		f.Add(edHeader, strings.Replace(lastingClaims, change[0], change[1], 1))
	}
	f.Fuzz(func(t *testing.T, header, payload string) {
		caller, err := v.Authenticate(t.Context(), bearer(compact(header, payload, key, unhashed)), "plants/read")
		if err != nil {
			return
		}
		var h, c map[string]any
		if json.Unmarshal([]byte(header), &h) != nil || json.Unmarshal([]byte(payload), &c) != nil {
			t.Fatalf("accepted invalid JSON: %s %s", header, payload)
		}
		if h["alg"] != "EdDSA" && h["alg"] != "Ed25519" || h["crit"] != nil || h["b64"] != nil {
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
