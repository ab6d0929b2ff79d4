package auth_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
)

func init() { time.Local = time.FixedZone("east", 3600) } // not UTC on any machine

// Claims are checked strictly. A token that says that it is something else is not
// an access token. Only some access tokens have nonce or auth_time, and those name
// scopes or say what they are.
func TestClaims(t *testing.T) {
	const notJSON, send = "without duplicate names", "send the access token"
	long := strings.Repeat("x", 1000)
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t, config.Tokens{Audiences: []string{authtest.Audience, "second"}})
	for _, test := range []struct {
		without, with string // claims of a valid token: names, and JSON members
		want          string // in the error, if any
	}{
		{"iat", `"iat":"never","Sub":"bob","x":{"sub":"bob","y":[null,1e400,"\ud83c\udf31"]}`, ""},
		{"", `"sub":"bob"`, notJSON},
		{"", `"s\u0075b":"bob"`, notJSON},
		{"", `"x":{"a":1,"a":1}`, notJSON},
		{"", `"x":"` + "\xff" + `"`, notJSON},
		{"", `"x":"\udc00"`, notJSON},

		{"iss", ``, "no iss: configure the issuer to include it"},
		{"iss", `"iss":"https://issuer.test/"`, `iss is "https://issuer.test/", not "https://issuer.test"`},
		{"iss", `"iss":"https://other.test/` + long + `"`, `iss is "https://other.test/x`},
		{"iss", `"iss":"\u202e\u0085\n"`, `iss is "\u202e\u0085\n"`},

		{"sub", ``, "no sub: configure the issuer to include it"},
		{"sub", `"sub":1`, "sub is not a string"},
		{"sub", `"sub":""`, "sub has 0 bytes"},
		{"sub", `"sub":"` + strings.Repeat("é", 128) + `"`, "sub has 256 bytes, not 1 to 255"},

		{"aud", `"aud":"second"`, ""},
		{"aud", `"aud":["other","second"]`, ""},
		{"aud", ``, "no aud: "},
		{"aud", `"aud":[]`, "aud is [], accepted are [\"plants-test\" \"second\"]"},
		{"aud", `"aud":["a","` + long + `"]`, `aud is ["a" "xxx`},
		{"aud", `"aud":["second",1]`, "aud is neither a string nor an array of strings"},

		// Amazon Cognito's access tokens have no aud.
		{"aud", `"client_id":"second","token_use":"access"`, ""},
		{"aud", `"client_id":"other","token_use":"access"`, `client_id is ["other"]`},
		{"aud", `"client_id":"second"`, "no aud: "},
		{"aud", `"aud":"other","client_id":"second","token_use":"access"`, `aud is ["other"]`},
		{"aud", `"aud":null,"client_id":"second","token_use":"access"`, "aud is neither"},

		{"", `"scope":null`, "scope is neither a string nor an array of strings"},
		{"", `"scope":["plants/read",1]`, "scope is neither"},

		// In a synctest bubble, the time is 946684800.
		{"exp", ``, "no exp"},
		{"exp", `"exp":946684771`, ""}, // within the leeway
		{"exp", `"exp":946684770.1`, ""},
		{"exp", `"exp":946684770`, "token expired at 1999-12-31T23:59:30Z"},
		{"exp", `"exp":253402300799`, ""},
		{"exp", `"exp":253402300800`, "exp is out of range"},
		{"exp", `"exp":-1e300`, "exp is out of range"},
		{"exp", `"exp":1e400`, "exp is out of range"},
		{"exp", `"exp":"946688400"`, "exp is not a number"},
		{"", `"nbf":946684830`, ""}, // within the leeway
		{"", `"nbf":946684830.5`, "not valid before 2000-01-01T00:00:30Z"},
		{"", `"nbf":-1e10`, ""},
		{"", `"nbf":"0"`, "nbf is not a number"},
		// A forger doesn't learn that all else is valid.
		{"exp", `"exp":1,"nbf":946684831`, "not valid before"},
		{"exp", `"exp":1,"scope":{}`, "scope is neither"},

		// Kinds of tokens.
		{"", `"token_use":"access","auth_time":1`, ""},
		{"", `"token_use":"id"`, send},
		{"", `"token_use":true`, `the claim token_use is ""`},
		{"", `"typ":"Bearer","scope":"","auth_time":1`, ""},
		{"", `"typ":"DPoP"`, ""},
		{"", `"typ":"JWT"`, ""},
		{"", `"typ":"at+jwt"`, ""},
		{"", `"typ":"access"`, ""},
		{"", `"typ":"ID","scope":""`, send},
		{"", `"typ":"Logout"`, `the claim typ is "Logout"`},
		{"", `"typ":7`, `the claim typ is ""`},
		{"", `"events":{},"scope":""`, send},
		{"", `"events":null`, send},
		{"", `"at_hash":"x","scope":""`, send},
		{"", `"c_hash":"x","scope":""`, send},
		{"", `"token_class":"authorization_code"`, send},
		{"", `"token_class":"access_token","type":"user"`, ""},
		{"", `"ttype":"A"`, send},
		{"", `"ttype":"T"`, ""},
		{"", `"type":"refresh_token"`, send},
		{"", `"type":["refresh_token"]`, ""},
		{"", `"token_type":"Refresh"`, send},
		{"", `"token_type":"Bearer"`, ""},
		{"", `"type":"code"`, send},
		{"", `"type":"ID"`, send},
		{"", `"type":"id_token"`, send},
		{"", `"nonce":"x"`, "nonce but no scope: "},
		{"", `"auth_time":1`, "auth_time but no scope: "},
		{"", `"nonce":"x","scope":""`, ""},
		{"", `"auth_time":1,"scp":[]`, ""},
	} {
		t.Run(test.without+" "+test.with, bubble(func(t *testing.T) {
			claims := authtest.Claims("alice")
			delete(claims, test.without)
			payload := strings.TrimSuffix(toJSON(claims), "}")
			if test.with != "" {
				payload += "," + test.with
			}
			checkText(t, v, es256(issuer.ECKey, authtest.KeyID, payload+"}"), test.want)
		}))
	}
	typed := authtest.Claims("alice")
	typed["auth_time"] = 1                  // which RFC 9068 section 2.2.1 allows
	checkText(t, v, issuer.Sign(typed), "") // the header's typ is at+jwt
	typed["at_hash"] = "x"
	checkText(t, v, issuer.Sign(typed), send)
}

// checkText checks that the token is accepted or, if want isn't empty, that the
// error is one short line with want in it, for a person who reads the log. It never
// contains the token.
func checkText(t *testing.T, v *auth.Verifier, token, want string) {
	t.Helper()
	caller, err := v.Authenticate(t.Context(), bearer(token))
	if want == "" {
		checkResult(t, caller, err, nil)
		return
	}
	sentinel := auth.ErrInvalidToken
	if errors.Is(err, auth.ErrExpiredToken) && strings.HasPrefix(want, auth.ErrExpiredToken.Error()) {
		sentinel = auth.ErrExpiredToken
	}
	checkResult(t, caller, err, sentinel)
	if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("got %v; want one short line with %q", err, want)
		return
	}
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 5 && strings.Contains(err.Error(), part) {
			t.Errorf("the error contains a part of the token: %v", err)
		}
	}
}

func TestScopes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	list := func(names ...string) []string { return names }
	for _, test := range []struct {
		scope   any
		allowed string // of read, write
		unnamed bool   // all are allowed unless they must be named
	}{
		{nil, "", true},
		{[]string{}, "", true},
		{"plants", "", true},
		{"other/plants/read", "", true},
		{"plants/read", "plants/read", false},
		{"openid  plants/write email", "plants/write", false},
		{list("openid", "plants/read"), "plants/read", false},
		{list("plants/read plants/write"), "plants/read plants/write", false},
		{list("", "plants/admin"), "", false},
		{"plants/", "", false},
		{"plants/read\tplants/write", "", false},
		{"plants/read,plants/write", "", false},
	} {
		for _, claims := range []map[string]any{{"scope": test.scope}, {"scp": test.scope}, {"scope": test.scope, "scp": "email"}} {
			token := es256(issuer.ECKey, authtest.KeyID, claimsWith(claims))
			checkScopes(t, issuer.Verifier(t, config.Tokens{RequireScopes: new(true)}), token, test.allowed)
			allowed := test.allowed
			if test.unnamed {
				allowed = "plants/read plants/write"
			}
			checkScopes(t, issuer.Verifier(t, config.Tokens{RequireScopes: new(false)}), token, allowed)
			checkScopes(t, issuer.Verifier(t, config.Tokens{}), token, allowed)
		}
	}
	both := es256(issuer.ECKey, authtest.KeyID, claimsWith(map[string]any{"scope": "plants/read", "scp": list("plants/write")}))
	checkScopes(t, issuer.Verifier(t, config.Tokens{}), both, "plants/read plants/write")
}

// checkScopes checks that the token has exactly the allowed scopes.
func checkScopes(t *testing.T, v *auth.Verifier, token, allowed string) {
	t.Helper()
	for range 2 { // verified, then cached
		caller, err := v.Authenticate(t.Context(), bearer(token))
		checkResult(t, caller, err, nil)
		for _, scope := range []string{"plants/read", "plants/write", "", "plants/", "plants/admin"} {
			if got, want := caller.Allows(scope), slices.Contains(strings.Fields(allowed), scope); got != want {
				t.Errorf("%q: got %t, want %t: %s", scope, got, want, token)
			}
		}
	}
}

// An issuer whose metadata names a scope of this service can issue them, so a
// token that names none has none. Else the first Load that succeeds or such a token
// logs a warning, unless the setting says that they are accepted.
func TestScopesOfTheIssuer(t *testing.T) {
	tokens := authtest.NewIssuer(t)
	for _, test := range []struct {
		supported, allowed string
		setting            *bool
		warnings           int
	}{
		{"plants/read", "", nil, 0},
		{"plants/x", "", new(false), 0},
		{"email", "plants/read plants/write", nil, 1},
		{"email", "plants/read plants/write", new(false), 0},
		{"email", "", new(true), 0},
	} {
		for _, late := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := &site{pages: map[string]string{}}
				s.pages[authtest.IssuerURL+"/.well-known/openid-configuration"] = metadata(authtest.IssuerURL, keysURL, test.supported)
				var log strings.Builder
				v := newVerifier(t, config.Tokens{RequireScopes: test.setting}, s, &log)
				v.Load(t.Context()) // fails
				s.pages[keysURL] = string(tokens.JWKS())
				for range 2 {
					if time.Sleep(5 * time.Second); late { // a request fetches the keys
						checkScopes(t, v, tokens.Token("alice"), test.allowed)
					} else {
						must(v.Load(t.Context()))
					}
					if warnings := strings.Count(log.String(), "tokens without scopes"); warnings != test.warnings {
						t.Errorf("%+v: %d warnings", test, warnings)
					}
				}
			})
		}
	}
}
