package auth_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func init() { time.Local = time.FixedZone("east", 3600) } // not UTC on any machine

// Claims are checked strictly, and tokens of other kinds are rejected.
func TestClaims(t *testing.T) {
	const notJSON, send = "without duplicate names", "send the access token"
	long := strings.Repeat("x", 1000)
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t, auth.Config{Audiences: []string{authtest.Audience, "second"}})
	for _, test := range []struct {
		without, with string // claims of a valid token: names, and JSON members
		want          string // in the error, if any
	}{
		{"iat", `"iat":"never","Sub":"bob","x":{"sub":"bob","y":[null,1e400,"\ud83c\udf31"]}`, ""},
		{"", `"sub":"bob"`, notJSON},
		{"", `"s\u0075b":"bob"`, notJSON},
		{"", `"x":{"a":1,"a":1}`, notJSON},
		{"", `"x":"` + "\xff" + `"`, notJSON},

		{"iss", ``, "no iss: configure the issuer to include it"},
		{"iss", `"iss":"https://issuer.test/"`, `iss is "https://issuer.test/", not "https://issuer.test"`},
		{"iss", `"iss":"https://Issuer.test"`, `iss is "https://Issuer.test"`},
		{"iss", `"iss":"https://other.test/` + long + `"`, `iss is "https://other.test/x`},

		{"sub", ``, "no sub: configure the issuer to include it"},
		{"sub", `"sub":1`, "sub is not a string"},
		{"sub", `"sub":""`, "sub has 0 bytes"},
		{"sub", `"sub":"` + strings.Repeat("é", 128) + `"`, "sub has 256 bytes, not 1 to 255"},

		{"aud", `"aud":"second"`, ""},
		{"aud", `"aud":["other","second"]`, ""},
		{"aud", `"aud":"Second"`, `aud is "Second"`},
		{"aud", ``, "no aud: "},
		{"aud", `"aud":[]`, `aud is "", accepted are "plants-test second"`},
		{"aud", `"aud":["a","` + long + `"]`, `aud is "a xxx`},
		{"aud", `"aud":["second",1]`, "aud is neither a string nor an array of strings"},

		// Amazon Cognito's access tokens have no aud.
		{"aud", `"client_id":"second","token_use":"access"`, ""},
		{"aud", `"client_id":"other","token_use":"access"`, `client_id is "other"`},
		{"aud", `"client_id":"second"`, "no aud: "},
		{"aud", `"aud":"other","client_id":"second","token_use":"access"`, `aud is "other"`},
		{"aud", `"aud":null,"client_id":"second","token_use":"access"`, "aud is neither"},

		{"scope", `"scope":null`, "scope is neither a string nor an array of strings"},
		{"scope", `"scope":["plants/read",1]`, "scope is neither"},

		// In a synctest bubble, the time is 946684800.
		{"exp", ``, "exp is missing, not a number or out of range"},
		{"exp", `"exp":946684771`, ""}, // within the leeway
		{"exp", `"exp":946684770.1`, ""},
		{"exp", `"exp":946684770`, "token expired at 1999-12-31T23:59:30Z"},
		{"exp", `"exp":253402300799`, ""},
		{"exp", `"exp":253402300800`, "exp is missing"},
		{"exp", `"exp":-1e300`, "exp is missing"},
		{"exp", `"exp":"946688400"`, "exp is missing"},
		{"", `"nbf":946684830`, ""}, // within the leeway
		{"", `"nbf":946684830.5`, "not valid before 2000-01-01T00:00:30Z"},
		{"", `"nbf":-1e10`, ""},
		{"", `"nbf":null`, "nbf is missing"},
		// "Expired" would tell a forger that everything else is valid.
		{"exp", `"exp":1,"nbf":946684831`, "not valid before"},
		{"exp", `"exp":1,"scp":{}`, "scp is neither"},

		// Kinds of tokens.
		{"", `"token_use":"access","auth_time":1`, ""},
		{"", `"token_use":"id"`, send},
		{"", `"token_use":"Access"`, send},
		{"", `"token_use":null`, send},
		{"", `"token_use":true`, `the claim token_use is ""`},
		{"", `"typ":"Bearer","auth_time":1`, ""},
		{"", `"typ":"at+jwt"`, ""},
		{"", `"typ":"BEARER"`, ""},
		{"", `"typ":"AT+JWT"`, ""},
		{"", `"typ":"jwt"`, ""},
		{"", `"typ":"access"`, `the claim typ is "access"`},
		{"", `"typ":"b-earer"`, send},
		{"", `"typ":""`, send},
		{"", `"typ":null`, send},
		{"", `"typ":"Logout"`, `the claim typ is "Logout"`},
		{"", `"typ":7`, `the claim typ is ""`},
		{"", `"type":"refresh_token"`, send},
		{"", `"type":"Refresh Token"`, `the claim type is "Refresh Token"`},
		{"", `"type":"ID"`, send},
		{"", `"type":"id_token"`, send},
		{"", `"token_type":"Refresh"`, send},
		{"", `"token_type":"refresh-TOKEN"`, send},
		{"", `"tokenType":"refreshToken"`, send},
		{"", `"token_class":"id--token"`, send},
		{"", `"token_class":"refresh_token"`, send},
		{"", `"type":["refresh_token"]`, ""},
		{"", `"type":"AccessToken","tokenType":"access-token","token_class":"access_token","token_type":"Bearer"`, ""},
		{"", `"token_class":"access_token","type":"user"`, ""},
		{"", `"cnf":{"jkt":"x"},"typ":"DPoP"`, "bound to a key (claim cnf): configure the issuer or the client to use bearer tokens"},
		{"", `"cnf":null`, ""},
		{"", `"cnf":""`, ""},
		// Some issuers put the scopes into all their tokens.
		{"scope", `"type":"refresh","scope":"plants/write"`, send},
		{"scope", `"typ":"Refresh","scope":"plants/write"`, send},
		{"scope", `"token_use":"refresh","scope":"plants/write"`, send},
		{"scope", `"tokenType":"access-token","token_class":"refresh_token","scope":"plants/write"`, send},
		{"scope", `"type":"id_token","scope":"plants/write"`, send},
		// Nothing else is guessed: some access tokens have claims of ID tokens.
		{"", `"nonce":"x","at_hash":"x","c_hash":"x","events":{},"auth_time":1`, ""},
	} {
		t.Run(test.without+" "+test.with, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				claims := authtest.Claims("alice")
				delete(claims, test.without)
				payload := strings.TrimSuffix(toJSON(claims), "}")
				if test.with != "" {
					payload += "," + test.with
				}
				check(t, v, es256(issuer, payload+"}"), test.want)
			})
		})
	}
	longest := strings.Repeat("x", 255)
	if caller, err := v.Authenticate(t.Context(), bearer(issuer.Token(longest))); err != nil || caller.Subject != longest {
		t.Errorf("a subject of 255 bytes: got %q, %v", caller.Subject, err)
	}
	typed := authtest.Claims("alice")
	typed["type"] = "refresh_token"
	check(t, v, issuer.Sign(typed), send) // even though the header's typ is at+jwt
}
