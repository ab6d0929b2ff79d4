package auth_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func init() { time.Local = time.FixedZone("east", 3600) } // not UTC on any machine

// Claims are checked strictly. A token that says that it is something else is not
// an access token. Only some access tokens have nonce or auth_time, and those say
// what they are or, with auth_time, name scopes.
func TestClaims(t *testing.T) {
	const notJSON, send, likeID = "without duplicate names", "send the access token", "looks like an ID token, or the issuer's access tokens do"
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
		{"iss", `"iss":"https://other.test/` + long + `"`, `iss is "https://other.test/x`},

		{"sub", ``, "no sub: configure the issuer to include it"},
		{"sub", `"sub":1`, "sub is not a string"},
		{"sub", `"sub":""`, "sub has 0 bytes"},
		{"sub", `"sub":"` + strings.Repeat("é", 128) + `"`, "sub has 256 bytes, not 1 to 255"},

		{"aud", `"aud":"second"`, ""},
		{"aud", `"aud":["other","second"]`, ""},
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

		{"", `"scope":null`, "scope is neither a string nor an array of strings"},
		{"", `"scope":["plants/read",1]`, "scope is neither"},

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
		// A forger doesn't learn that all else is valid.
		{"exp", `"exp":1,"nbf":946684831`, "not valid before"},
		{"exp", `"exp":1,"scope":{}`, "scope is neither"},

		// Kinds of tokens.
		{"", `"token_use":"access","auth_time":1`, ""},
		{"", `"token_use":"id"`, send},
		{"", `"token_use":true`, `the claim token_use is ""`},
		{"", `"typ":"Bearer","auth_time":1`, ""},
		{"", `"typ":"at+jwt"`, ""},
		{"", `"typ":"access"`, ""},
		{"", `"typ":"Logout"`, `the claim typ is "Logout"`},
		{"", `"typ":7`, `the claim typ is ""`},
		{"", `"events":{},"scope":""`, send},
		{"", `"at_hash":"x","scope":""`, likeID},
		{"", `"c_hash":"x","scope":""`, likeID},
		{"", `"token_class":"authorization_code"`, send},
		{"", `"token_class":"access_token","type":"user"`, ""},
		{"", `"ttype":"A"`, send},
		{"", `"ttype":"R"`, send},
		{"", `"ttype":"T"`, ""},
		{"", `"type":"refresh_token"`, send},
		{"", `"type":["refresh_token"]`, ""},
		{"", `"token_type":"Refresh"`, send},
		{"", `"token_type":"Bearer"`, ""},
		{"", `"type":"code"`, send},
		{"", `"type":"ID"`, send},
		{"", `"type":"id_token"`, send},
		{"", `"token_type":"refresh-TOKEN"`, send},
		{"", `"tokenType":"refreshToken"`, send},
		{"", `"type":"Refresh Token"`, `the claim type is "Refresh Token"`},
		{"", `"ttype":"IDToken"`, send},
		{"", `"token_class":"id--token"`, send},
		{"", `"nonce":"x","type":"AccessToken"`, ""},
		{"", `"at_hash":null,"c_hash":"","events":null,"cnf":null`, ""},
		{"", `"nonce":"x"`, likeID},
		{"", `"nonce":"","auth_time":null`, ""}, // Casdoor
		{"", `"nonce":{}`, likeID},
		{"", `"nonce":"x","token_type":"access_token"`, ""},
		{"", `"nonce":"x","token_type":"Bearer"`, likeID},
		{"", `"nonce":"x","scope":["openid"],"scp":""`, likeID}, // idpyoidc
		{"", `"nonce":"x","token_use":"access"`, ""},
		{"", `"nonce":"x","typ":"JWT"`, likeID}, // auth0-simulator
		{"", `"auth_time":1`, likeID},
		{"", `"auth_time":1,"scope":""`, ""},
		{"", `"auth_time":1,"scp":[]`, ""},
		{"", `"cnf":{"jkt":"x"},"typ":"DPoP"`, "bound to a key: configure the issuer or the client to use bearer tokens"},
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
	typed["auth_time"], typed["nonce"] = 1, "x" // RFC 9068 section 2.2.1 allows the first
	check(t, v, issuer.Sign(typed), "")         // the header's typ is at+jwt
	typed["at_hash"] = "x"
	check(t, v, issuer.Sign(typed), likeID)
}

// A token has the scopes that it names exactly. Those in another spelling, or in a
// claim of some issuers only, show that it is limited.
func TestScopes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v, strict := issuer.Verifier(t, auth.Config{}), issuer.Verifier(t, auth.Config{ScopePolicy: auth.ScopesRequired})
	const all = "plants/read plants/write"
	for _, test := range []struct {
		scope   string // in JSON
		allowed string // of plants/read and plants/write
		limit   string // the name that the log has; "" if the token is not limited
	}{
		{`[]`, all, ""},
		{`"plants"`, all, ""},
		{`"plantsread"`, all, ""},
		{`"other/plants/read"`, all, ""},
		{`"openid aws.cognito.signin.user.admin plantsman/read"`, all, ""},
		{`"plants/read"`, "plants/read", "plants/read"},
		{`"openid  plants/write email"`, "plants/write", "plants/write"},
		{`["openid","plants/read"]`, "plants/read", "plants/read"},
		{`["plants/read plants/write"]`, all, "plants/read"},
		{`["","plants/admin"]`, "", "plants/admin"},
		{`"plants/"`, "", "plants/"},
		{`"plants/read\tplants/write"`, "", `plants/read\tplants/write`},
		{`"plants/read,plants/write"`, "", "plants/read,plants/write"},
		{`"openid,plants/read"`, "", "openid,plants/read"},
		{`"openid;plants/read"`, "", "openid;plants/read"},
		{`"openid|plants/read"`, "", "openid|plants/read"},
		{`"openid+plants/read"`, "", "openid+plants/read"},
		{`"openid\u00a0plants/read"`, "", `openid\u00a0plants/read`},
		{`"openid\nplants/read"`, "", `openid\nplants/read`},
		{`"openid, plants/read"`, "", "openid, plants/read"},
		{`"plants/read, openid"`, "", "plants/read, openid"},
		{`["openid,email","plants/read"]`, "plants/read", "plants/read"},
		{`"plants+read"`, "", "plants+read"},
		{`"https://api.example.com/plants/read"`, all, ""},
		{`"plants:read"`, "", "plants:read"},
		{`"openid plants.admin"`, "", "plants.admin"},
		{`"Plants/admin"`, "", "Plants/admin"},
		{`"READ_PLANTS"`, "", "READ_PLANTS"},
		{`"plants:write plants/read"`, "plants/read", "plants:write"},
		// Spellings that aren't recognized.
		{`"plants_admin"`, all, ""},
		{`"plants-admin"`, all, ""},
		{`"PlantsRead"`, all, ""},
		{`"urn:plants:read"`, all, ""},
		{`"api/plants/read"`, all, ""},
		{`"read:plants:own"`, all, ""},
		{`"openid&plants/read"`, all, ""},
		{`"openid%20plants/read"`, all, ""},
		{`"openid\u0000plants/read"`, all, ""},
		{`"openid\u200bplants/read"`, all, ""},
	} {
		for _, claim := range []string{"scope", "scp", "permissions", "scopes", "roles"} {
			allowed, limit := test.allowed, ""
			required, missing := "", "it names no scope of this service"
			if test.limit != "" {
				limit = claim + ` has "` + test.limit + `"`
				if claim != "scope" && claim != "scp" {
					allowed = ""
				}
				required, missing = allowed, limit
			}
			token := es256(issuer, claimsAnd(`"`+claim+`":`+test.scope))
			checkScopes(t, v, token, allowed, limit)
			checkScopes(t, strict, token, required, missing)
		}
	}
	// In a claim that restricts but doesn't grant, any form does.
	for _, value := range []string{
		`["plants/read",7]`, `[["x",["plants/read"]]]`, `{"x":{"y":"plants/read"}}`, `{"plants/read":true}`, `[null,{"name":"plants/read"}]`,
	} {
		for _, claim := range []string{"permissions", "scopes", "roles"} {
			checkScopes(t, v, es256(issuer, claimsAnd(`"`+claim+`":`+value)), "", claim+` has "plants/read"`)
		}
	}
	for _, claim := range []string{"groups", "entitlements", "authorities"} { // which restrict nothing
		checkScopes(t, v, es256(issuer, claimsAnd(`"`+claim+`":["plants/read"]`)), all, "")
	}
	both := es256(issuer, claimsAnd(`"scope":"plants/read","scp":["plants/write"],"roles":7`))
	checkScopes(t, v, both, all, `scope has "plants/read"`)
}

// checkScopes checks that the token has exactly the allowed scopes, and why.
func checkScopes(t *testing.T, v *auth.Verifier, token, allowed, limit string) {
	t.Helper()
	for range 2 { // verified, then cached
		caller, err := v.Authenticate(t.Context(), bearer(token))
		checkResult(t, caller, err, "")
		if caller.Limit() != limit {
			t.Errorf("got the limit %q, want %q", caller.Limit(), limit)
		}
		for _, scope := range []string{"plants/read", "plants/write", "", "plants/", "plants/admin"} {
			if got, want := caller.Allows(scope), slices.Contains(strings.Fields(allowed), scope); got != want {
				t.Errorf("%q: got %t, want %t: %s", scope, got, want, token)
			}
		}
	}
}

// An issuer whose metadata names a scope of this service can issue them, so a
// token that names none has none, unless the policy says that it has all. Otherwise
// a warning is logged once, unless there is a policy. The metadata counts from the
// next refresh, even for tokens in the cache.
func TestScopesOfTheIssuer(t *testing.T) {
	tokens := authtest.NewIssuer(t)
	const all, none = "plants/read plants/write", "it names no scope of this service"
	for _, test := range []struct {
		supported     any
		policy        auth.ScopePolicy
		allowed, then string // until, and after, the issuer publishes scopes
		warnings      int
	}{
		{[]string{"openid", "plants/read"}, auth.ScopesAsPublished, "", "", 0},
		{[]any{1, nil, "plants:x"}, auth.ScopesAsPublished, "", "", 0},
		{"openid plants/read", auth.ScopesAsPublished, "", "", 0},
		{[]any{"openid", 1}, auth.ScopesAsPublished, all, "", 1},
		{map[string]string{"plants/read": "x"}, auth.ScopesAsPublished, "", "", 0},
		{json.RawMessage(`[{"x":1,"x":1},"plants/read"]`), auth.ScopesAsPublished, "", "", 0},
		{7, auth.ScopesAsPublished, all, "", 1},
		{[]string{"plants/read"}, auth.ScopesOptional, all, all, 0},
		{nil, auth.ScopesOptional, all, all, 0},
		{nil, auth.ScopesRequired, "", "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			limit := map[bool]string{true: none}
			const url = authtest.IssuerURL + "/.well-known/openid-configuration"
			s := &site{pages: map[string]string{url: metadata(authtest.IssuerURL, keysURL, test.supported)}}
			var log strings.Builder
			v, token := newVerifier(t, auth.Config{ScopePolicy: test.policy}, s, &log), es256(tokens, lastingClaims)
			v.Load(t.Context()) // fails
			s.pages[keysURL] = string(tokens.JWKS())
			time.Sleep(5 * time.Second)
			checkScopes(t, v, token, test.allowed, limit[test.allowed == ""])
			must(newVerifier(t, auth.Config{ScopePolicy: test.policy}, s, &log).Load(t.Context()))
			if n := strings.Count(log.String(), "tokens without scopes may do everything: set REQUIRE_SCOPES"); n != 2*test.warnings {
				t.Errorf("%+v: %d warnings of two verifiers, want %d of each", test, n, test.warnings)
			}
			s.pages[url] = metadata(authtest.IssuerURL, keysURL, []string{"plants/read"})
			time.Sleep(time.Hour)
			checkScopes(t, v, token, test.then, limit[test.then == ""])
		})
	}
}
