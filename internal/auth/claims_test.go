package auth_test

import (
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestClaims(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.VerifierOf(t, auth.Config{Audiences: []string{authtest.Audience, "second"}})
	type claims = map[string]any
	for _, test := range []struct {
		name    string
		changes claims
		want    error
	}{
		{"none", claims{}, nil},
		{"unknown claims", claims{"cnf": claims{"x": 1}, "Sub": "bob", "SUB": "bob", "iat": "never"}, nil},

		{"no iss", claims{"iss": nil}, auth.ErrInvalidToken},
		{"iss with trailing slash", claims{"iss": authtest.IssuerURL + "/"}, auth.ErrInvalidToken},
		{"iss in upper case", claims{"iss": strings.ToUpper(authtest.IssuerURL)}, auth.ErrInvalidToken},

		{"no sub", claims{"sub": nil}, auth.ErrInvalidToken},
		{"empty sub", claims{"sub": ""}, auth.ErrInvalidToken},
		{"sub a number", claims{"sub": 1}, auth.ErrInvalidToken},
		{"sub too long", claims{"sub": strings.Repeat("é", 128)}, auth.ErrInvalidToken},

		{"second audience", claims{"aud": "second"}, nil},
		{"aud an array", claims{"aud": []string{"other", "second"}}, nil},
		{"no aud", claims{"aud": nil}, auth.ErrInvalidToken},
		{"aud in upper case", claims{"aud": "SECOND"}, auth.ErrInvalidToken},
		{"aud an empty array", claims{"aud": []string{}}, auth.ErrInvalidToken},
		{"aud includes a number", claims{"aud": []any{"second", 1}}, auth.ErrInvalidToken},

		{"Cognito access token", claims{"aud": nil, "client_id": "second", "token_use": "access"}, nil},
		{"Cognito access token of another client", claims{"aud": nil, "client_id": "other", "token_use": "access"}, auth.ErrInvalidToken},
		{"client_id without token_use", claims{"aud": nil, "client_id": "second"}, auth.ErrInvalidToken},
		{"other aud, accepted client_id", claims{"aud": "other", "client_id": "second", "token_use": "access"}, auth.ErrInvalidToken},
		{"empty aud, accepted client_id", claims{"aud": []string{}, "client_id": "second", "token_use": "access"}, auth.ErrInvalidToken},
		{"Cognito ID token", claims{"aud": "second", "token_use": "id"}, auth.ErrInvalidToken},
		{"token_use a boolean", claims{"token_use": true}, auth.ErrInvalidToken},
		{"empty token_use", claims{"token_use": ""}, auth.ErrInvalidToken},
		{"access token with aud", claims{"token_use": "access"}, nil},

		{"Keycloak ID token", claims{"typ": "ID", "scope": "openid"}, auth.ErrInvalidToken},
		{"Keycloak refresh token", claims{"typ": "Refresh", "scope": "openid"}, auth.ErrInvalidToken},
		{"Keycloak offline token", claims{"typ": "Offline", "scope": "openid"}, auth.ErrInvalidToken},
		{"Keycloak access token", claims{"typ": "Bearer", "scope": "openid", "auth_time": 1}, nil},
		{"typ a number", claims{"typ": 7}, auth.ErrInvalidToken},
		{"logout token", claims{"typ": "Logout"}, auth.ErrInvalidToken},
		{"DPoP", claims{"typ": "DPoP"}, nil},
		{"security event", claims{"events": claims{}, "scope": ""}, auth.ErrInvalidToken},
		{"token_class", claims{"token_class": "authorization_code"}, auth.ErrInvalidToken},
		{"token_class of an access token", claims{"token_class": "access_token", "type": "user"}, nil},
		{"ttype", claims{"ttype": "A"}, auth.ErrInvalidToken},
		{"ttype of an access token", claims{"ttype": "T"}, nil},
		{"type", claims{"type": "refresh_token"}, auth.ErrInvalidToken},
		{"type an array", claims{"type": []string{"refresh_token"}}, nil},
		{"token_type", claims{"token_type": "Refresh"}, auth.ErrInvalidToken},
		{"at_hash", claims{"at_hash": "x", "scope": "openid"}, auth.ErrInvalidToken},
		{"c_hash", claims{"c_hash": "x", "scope": "openid"}, auth.ErrInvalidToken},
		{"nonce, no scope", claims{"nonce": "x"}, auth.ErrInvalidToken},
		{"auth_time, no scope", claims{"auth_time": 1}, auth.ErrInvalidToken},
		{"nonce and scope", claims{"nonce": "x", "scope": ""}, nil},
		{"auth_time and scp", claims{"auth_time": 1, "scp": []string{}}, nil},
		{"auth_time, Cognito access token", claims{"auth_time": 1, "token_use": "access"}, nil},

		{"scope includes a number", claims{"scope": []any{auth.ScopeRead, 1}}, auth.ErrInvalidToken},
		{"scp a boolean", claims{"scp": true}, auth.ErrInvalidToken},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, v, es256(issuer.ECKey, authtest.KeyID, claimsWith(test.changes)), test.want)
		})
	}
}

// RFC 9068 section 2.2.1 allows auth_time in access tokens, which say what they
// are in their header.
func TestAuthTimeInAccessToken(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	claims := authtest.Claims("alice")
	claims["auth_time"] = claims["iat"]
	check(t, issuer.Verifier(t), issuer.Sign(claims), nil) // typ is at+jwt
	claims["at_hash"] = "x"
	check(t, issuer.Verifier(t), issuer.Sign(claims), auth.ErrInvalidToken)
}

func TestClaimsJSON(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	valid := claimsWith(nil)
	add := func(s string) string { return strings.TrimSuffix(valid, "}") + s + "}" }
	for name, payload := range map[string]string{
		"duplicate sub":         add(`,"sub":"bob"`),
		"duplicate, escaped":    add(`,"s\u0075b":"bob"`),
		"nested duplicate name": add(`,"x":{"a":1,"a":1}`),
		"invalid UTF-8":         add(`,"x":"` + "\xff" + `"`),
		"lone surrogate":        add(`,"x":"\udc00"`),
		"sub null":              strings.Replace(valid, `"alice"`, `null`, 1),
		"aud null, client_id":   strings.Replace(add(`,"client_id":"plants-test","token_use":"access"`), `"aud":"plants-test"`, `"aud":null`, 1),
		"token_use null":        add(`,"token_use":null`),
		"scope null":            add(`,"scope":null`),
	} {
		t.Run(name, func(t *testing.T) {
			check(t, v, es256(issuer.ECKey, authtest.KeyID, payload), auth.ErrInvalidToken)
		})
	}
	check(t, v, es256(issuer.ECKey, authtest.KeyID, add(`,"x":{"sub":"bob","y":[null,1e400,"\ud83c\udf31"]}`)), nil)
}

// Subjects that differ in one byte are different callers.
func TestSubjectIsExact(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	for _, sub := range []string{"alice", "Alice", " alice", "alice ", "alice\x00", "e\u0301", "\u00e9", "\ufffd", "<&>\u2028", "🌱", strings.Repeat("é", 127) + "x"} {
		caller, err := v.Authenticate(t.Context(), bearer(issuer.Token(sub)))
		if err != nil || caller.Subject != sub {
			t.Errorf("sub %q: got %q, %v", sub, caller.Subject, err)
		}
	}
}

func TestTimes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	invalid, expired := auth.ErrInvalidToken, auth.ErrExpiredToken
	// In a synctest bubble, the time is 946684800.
	for _, test := range []struct {
		exp, nbf string // JSON
		want     error
	}{
		{"946684801", "", nil},
		{"946684771", "", nil}, // within the leeway
		{"946684770.1", "", nil},
		{"946684770", "", expired},
		{"9.46684771e8", "", nil},
		{"0", "", expired},
		{"253402300799", "", nil},
		{"253402300800", "", invalid},
		{"1e300", "", invalid},
		{"-1e300", "", invalid},
		{"1e400", "", invalid},
		{`"946688400"`, "", invalid},
		{"null", "", invalid},

		{"946688400", "946684800", nil},
		{"946688400", "946684830", nil}, // within the leeway
		{"946688400", "946684830.5", invalid},
		{"946688400", "946684831", invalid},
		{"946688400", "-1e10", nil},
		{"946688400", "1e400", invalid},
		{"946688400", `"0"`, invalid},
		{"946684000", "946684831", invalid}, // expired and not yet valid
		{"946684000", "946684000", expired},
	} {
		t.Run(test.exp+" "+test.nbf, bubble(func(t *testing.T) {
			payload := strings.TrimSuffix(claimsWith(map[string]any{"exp": nil}), "}") + `,"exp":` + test.exp
			if test.nbf != "" {
				payload += `,"nbf":` + test.nbf
			}
			check(t, issuer.Verifier(t), es256(issuer.ECKey, authtest.KeyID, payload+"}"), test.want)
		}))
	}
	check(t, issuer.Verifier(t), issuer.Sign(map[string]any{"iss": authtest.IssuerURL, "aud": authtest.Audience, "sub": "alice"}), invalid)
}

// A token that breaks another rule too is not reported as expired, which would
// tell a forger that all else is valid.
func TestExpiredOnlyIfOtherwiseValid(t *testing.T) {
	issuer, other := authtest.NewIssuer(t), authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	expired := func(name string, value any) map[string]any {
		c := authtest.Claims("alice")
		c["exp"] = time.Now().Add(-time.Hour).Unix()
		c[name] = value
		return c
	}
	check(t, v, issuer.Sign(expired("x", 1)), auth.ErrExpiredToken)
	check(t, v, issuer.SignRS256(expired("x", 1)), auth.ErrExpiredToken)
	check(t, v, other.Sign(expired("x", 1)), auth.ErrInvalidToken)
	for name, value := range map[string]any{
		"iss": "x", "aud": "x", "sub": "", "token_use": "id", "scope": 1, "nbf": time.Now().Add(time.Hour).Unix(),
	} {
		check(t, v, issuer.Sign(expired(name, value)), auth.ErrInvalidToken)
	}
}

func TestScopes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	list := func(names ...string) []string { return names }
	for _, test := range []struct {
		scope                           any
		read, write                     bool
		readIfRequired, writeIfRequired bool
	}{
		{[]string{}, true, true, false, false},
		{list("openid", "plants/read"), true, false, true, false},
		{list("plants/read", "plants/write"), true, true, true, true},
		{list("plants/read plants/write"), true, true, true, true},
		{list("", "plants/admin"), false, false, false, false},
		{nil, true, true, false, false},
		{"plants", true, true, false, false},
		{"other/plants/read", true, true, false, false},
		{"plants/read", true, false, true, false},
		{"plants/write", false, true, false, true},
		{"openid  plants/write email", false, true, false, true},
		{"plants/", false, false, false, false},
		{"plants/read\tplants/write", false, false, false, false},
		{"plants/read,plants/write", false, false, false, false},
	} {
		for _, claims := range []map[string]any{{"scope": test.scope}, {"scp": test.scope}, {"scope": test.scope, "scp": "email"}} {
			token := es256(issuer.ECKey, authtest.KeyID, claimsWith(claims))
			for _, required := range []bool{false, true} {
				read, write := test.read, test.write
				if required {
					read, write = test.readIfRequired, test.writeIfRequired
				}
				checkScopes(t, issuer.VerifierOf(t, auth.Config{RequireScopes: required}), token, read, write)
			}
		}
	}
	both := es256(issuer.ECKey, authtest.KeyID, claimsWith(map[string]any{"scope": "plants/read", "scp": list("plants/write")}))
	checkScopes(t, issuer.Verifier(t), both, true, true)
}

func checkScopes(t *testing.T, v *auth.Verifier, token string, read, write bool) {
	t.Helper()
	for range 2 { // verified, then cached
		caller, err := v.Authenticate(t.Context(), bearer(token))
		checkResult(t, caller, err, nil)
		if caller.Allows(auth.ScopeRead) != read || caller.Allows(auth.ScopeWrite) != write {
			t.Errorf("got read %t, write %t; want %t, %t: %s", caller.Allows(auth.ScopeRead), caller.Allows(auth.ScopeWrite), read, write, token)
		}
		if caller.Allows("") || caller.Allows("plants/") || caller.Allows("plants/admin") {
			t.Errorf("allows an unknown scope: %s", token)
		}
	}
}
