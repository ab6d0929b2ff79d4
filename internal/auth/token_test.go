package auth_test

import (
	"cmp"
	"crypto"
	"crypto/elliptic"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func init() { time.Local = time.FixedZone("east", 3600) } // not UTC on any machine

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
		if v, err := auth.New(c, []string{"plants/read"}, slog.New(slog.DiscardHandler)); err == nil || v != nil {
			t.Errorf("%+v: got %v, %v", c, v, err)
		}
	}
	// Only the address of metadata is derived from the issuer.
	for _, c := range []auth.Config{{Keys: keys}, {KeysURL: keysURL}} {
		c.Issuer, c.Audiences = "https://a.test/%", []string{"a"}
		if _, err := auth.New(c, []string{"plants/read"}, slog.New(slog.DiscardHandler)); err != nil {
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
		{[]string{"Bearer " + token + ",Bearer " + token}, invalid}, // as gateways join two headers
		{[]string{"Bearer " + token + " x"}, invalid},
		{[]string{"Bearer " + token, "Bearer " + token}, "2 Authorization headers"},
		{[]string{"Basic x", "Bearer " + token}, "2 Authorization headers"},
	} {
		caller, err := v.Authenticate(t.Context(), http.Header{"Authorization": test.values}, "plants/read")
		checkResult(t, caller, err, test.want)
	}
}

// Headers and claims are checked strictly, and tokens of other kinds are rejected.
func TestTokens(t *testing.T) {
	const notJSON, send = "without duplicate names", "send the access token"
	long := strings.Repeat("x", 1000)
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t, auth.Config{Audiences: []string{authtest.Audience, "second"}, ScopesOptional: true})
	padded := func(length int) string { // a header of this length, before it is encoded
		return strings.TrimSuffix(es256Header, "}") + `,"x":"` + strings.Repeat("x", length-len(es256Header)-7) + `"}`
	}
	for _, test := range []struct {
		header        string // es256Header, if empty
		without, with string // claims of a valid token: names, and JSON members
		want          string // in the error, if any
	}{
		{`{"alg":"ES256","kid":"es256"}`, "", "", ""},
		{`{"alg":"ES256","kid":"es256","typ":"Application/JWT"}`, "", "", ""},
		{`{"alg":"ES256","kid":"es256","typ":"application/at+jwt"}`, "", "", ""},
		{`{"alg":"ES256","kid":"es256","jwk":{"kty":"x"}}`, "", "", "malformed header: "},
		{`{"alg":"ES256","kid":"es256","typ":"logout+jwt"}`, "", "", `typ is "logout+jwt"`},
		{`{"alg":"ES256","kid":"es256","typ":""}`, "", "", `typ is ""`},
		{`{"alg":"ES256","kid":"es256","typ":null}`, "", "", "typ is not a string"},
		{`{"alg":"ES256","kid":"es256","typ":"application/x-at+jwt"}`, "", "", `typ is "application/x-at+jwt"`},
		{`{"alg":"ES256","kid":"es256","crit":["exp"],"exp":1}`, "", "", "header crit or b64"},
		{`{"alg":"ES256","kid":"es256","crit":null}`, "", "", "header crit or b64"},
		{`{"alg":"ES256","kid":"es256","b64":true}`, "", "", "header crit or b64"},
		{`{"alg":"ES256","kid":"rs256"}`, "", "", `no key for ES256 has the kid "rs256"`},
		{`{"alg":"ES256","kid":null}`, "", "", "kid is not a string"},
		{`{"alg":"ES256","kid":"gone` + strings.Repeat("x", 600) + `"}`, "", "", `no key for ES256 has the kid "gonexxx`},
		{`{"alg":"ES256","kid":"other","kid":"es256"}`, "", "", "without duplicate names"},
		{`{"alg":"HS256","kid":"es256"}`, "", "", `algorithm "HS256": configure the issuer to sign with RS256`},
		{`{"alg":"HS384","kid":"es256"}`, "", "", `algorithm "HS384"`},
		{`{"alg":"HS512","kid":"es256"}`, "", "", `algorithm "HS512"`},
		{`{"ALG":"ES256","kid":"es256"}`, "", "", "no alg"},
		{padded(768), "", "", ""},
		{padded(769), "", "", "a header of 1026 bytes, more than 1024"}, // the library takes milliseconds for 8 KiB
		{`{"alg":"ES256","kid":"es256","jwk":` + toJSON(newJWK(newECKey(elliptic.P256()).Public(), "es256")) + "}",
			"", "", ""},

		{"", "iat", `"iat":"never","Sub":"bob","x":{"sub":"bob","y":[null,1e400,"\ud83c\udf31"]}`, ""},
		{"", "", `"sub":"bob"`, notJSON},
		{"", "", `"s\u0075b":"bob"`, notJSON},
		{"", "", `"x":{"a":1,"a":1}`, notJSON},
		{"", "", `"x":"` + "\xff" + `"`, notJSON},

		{"", "iss", ``, "no iss: configure the issuer to include it"},
		{"", "iss", `"iss":"https://issuer.test/"`, `iss is "https://issuer.test/", not "https://issuer.test"`},
		{"", "iss", `"iss":"https://Issuer.test"`, `iss is "https://Issuer.test"`},
		{"", "iss", `"iss":"https://other.test/` + long + `"`, `iss is "https://other.test/x`},

		{"", "sub", ``, "no sub: configure the issuer to include it"},
		{"", "sub", `"sub":1`, "sub is not a string"},
		{"", "sub", `"sub":""`, "sub has 0 bytes"},
		{"", "sub", `"sub":"` + strings.Repeat("é", 128) + `"`, "sub has 256 bytes, not 1 to 255"},

		{"", "aud", `"aud":"second"`, ""},
		{"", "aud", `"aud":["other","second"]`, ""},
		{"", "aud", `"aud":"Second"`, `aud is "Second"`},
		{"", "aud", ``, "no aud: "},
		{"", "aud", `"aud":[]`, `aud is "", accepted are "plants-test second"`},
		{"", "aud", `"aud":["a","` + long + `"]`, `aud is "a xxx`},
		{"", "aud", `"aud":["second",1]`, "aud is neither a string nor an array of strings"},

		// Amazon Cognito's access tokens have no aud.
		{"", "aud", `"client_id":"second","token_use":"access"`, ""},
		{"", "aud", `"client_id":"other","token_use":"access"`, `client_id is "other"`},
		{"", "aud", `"client_id":"second"`, "no aud: "},
		{"", "aud", `"aud":"other","client_id":"second","token_use":"access"`, `aud is "other"`},
		{"", "aud", `"aud":null,"client_id":"second","token_use":"access"`, "aud is neither"},

		{"", "scope", `"scope":null`, "scope is neither a string nor an array of strings"},
		{"", "scope", `"scope":["plants/read",1]`, "scope is neither"},

		// In a synctest bubble, the time is 946684800.
		{"", "exp", ``, "exp is missing, not a number or out of range"},
		{"", "exp", `"exp":946684771`, ""}, // within the leeway
		{"", "exp", `"exp":946684770.1`, ""},
		{"", "exp", `"exp":946684770`, "token expired at 1999-12-31T23:59:30Z"},
		{"", "exp", `"exp":253402300799`, ""},
		{"", "exp", `"exp":253402300800`, "exp is missing"},
		{"", "exp", `"exp":-1e300`, "exp is missing"},
		{"", "exp", `"exp":"946688400"`, "exp is missing"},
		{"", "", `"nbf":946684830`, ""}, // within the leeway
		{"", "", `"nbf":946684830.5`, "not valid before 2000-01-01T00:00:30Z"},
		{"", "", `"nbf":-1e10`, ""},
		{"", "", `"nbf":null`, "nbf is missing"},
		// "Expired" would tell a forger that everything else is valid.
		{"", "exp", `"exp":1,"nbf":946684831`, "not valid before"},
		{"", "exp", `"exp":1,"scp":{}`, "token expired"},

		// Kinds of tokens.
		{"", "", `"token_use":"access","auth_time":1`, ""},
		{"", "", `"token_use":"id"`, send},
		{"", "", `"token_use":"Access"`, send},
		{"", "", `"token_use":null`, send},
		{"", "", `"token_use":true`, `the claim token_use is ""`},
		{"", "", `"typ":"Bearer","auth_time":1`, ""},
		{"", "", `"typ":"BEARER"`, ""},
		{"", "", `"typ":"AT+JWT"`, ""},
		{"", "", `"typ":"jwt"`, ""},
		{"", "", `"typ":"access"`, `the claim typ is "access"`},
		{"", "", `"typ":"b-earer"`, send},
		{"", "", `"typ":""`, send},
		{"", "", `"typ":null`, send},
		{"", "", `"typ":"Logout"`, `the claim typ is "Logout"`},
		{"", "", `"typ":7`, `the claim typ is ""`},
		{"", "", `"type":"refresh_token"`, send},
		{"", "", `"type":"Refresh Token"`, `the claim type is "Refresh Token"`},
		{"", "", `"token_type":"ID"`, send},
		{"", "", `"tokenType":"refresh"`, send},
		{"", "", `"token_class":"id--token"`, send},
		{"", "", `"type":["refresh_token"]`, ""},
		{"", "", `"type":"AccessToken","tokenType":"access-token","token_class":"access_token","token_type":"Bearer"`, ""},
		{"", "", `"token_class":"access_token","type":"user"`, ""},
		{"", "", `"cnf":{"jkt":"x"},"typ":"DPoP"`,
			"bound to a key (claim cnf): configure the issuer or the client to use bearer tokens"},
		{"", "", `"cnf":null`, ""},
		{"", "", `"cnf":""`, ""},
		// Some issuers put the scopes into all their tokens.
		{"", "scope", `"token_use":"refresh","scope":"plants/write"`, send},
		{"", "scope", `"tokenType":"access-token","token_class":"refresh_token","scope":"plants/write"`, send},
		{"", "scope", `"typ":"ID","scope":"openid plants/read"`, send},                                        // Keycloak
		{"", "scope", `"tokenType":"access-token","type":"normal-user","scope":["openid","plants/read"]`, ""}, // Casdoor
		// Nothing else is guessed: some access tokens have claims of ID tokens.
		{"", "", `"nonce":"x","at_hash":"x","c_hash":"x","events":{},"auth_time":1`, ""},
	} {
		header := cmp.Or(test.header, es256Header)
		t.Run(header+" "+test.without+" "+test.with, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				claims := authtest.Claims("alice")
				delete(claims, test.without)
				payload := strings.TrimSuffix(toJSON(claims), "}")
				if test.with != "" {
					payload += "," + test.with
				}
				check(t, v, compact(header, payload+"}", issuer.ECKey, crypto.SHA256), test.want)
			})
		})
	}
	longest := strings.Repeat("x", 255)
	caller, err := v.Authenticate(t.Context(), bearer(issuer.Token(longest)), "plants/read")
	if err != nil || caller.Subject != longest {
		t.Errorf("a subject of 255 bytes: got %q, %v", caller.Subject, err)
	}
}

func TestSerialization(t *testing.T) {
	v := authtest.NewIssuer(t).Verifier(t, auth.Config{})
	for token, want := range map[string]string{
		"ory_at_abc.def": "not a JWT, which has three parts separated by dots: " +
			"configure the issuer to issue JWT access tokens",
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
