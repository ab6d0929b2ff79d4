package auth_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A token grants the scopes that it names exactly. A token that names no scope of the
// service grants none or, if scopes are optional, all.
func TestScopes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	required, optional := issuer.Verifier(t, auth.Config{}), issuer.Verifier(t, auth.Config{ScopesOptional: true})
	const all = "plants/read plants/write"
	for scope, allowed := range map[string]string{ // a claim in JSON, and the scopes of the service that it names
		`"plants/read"`:                  "plants/read",
		`"openid  plants/write email"`:   "plants/write",
		`["openid","plants/read"]`:       "plants/read",
		`["plants/read plants/write"]`:   all,
		`"plants/read plants/read "`:     "plants/read",
		`["openid,email","plants/read"]`: "plants/read",
		`"plants:write plants/read"`:     "plants/read",
		`""`:                             "",
		`[]`:                             "",
		`"openid"`:                       "",
		`"plants"`:                       "",
		`"plants/"`:                      "",
		`"plants/admin"`:                 "",
		`"plants:read"`:                  "",
		`"plants.read"`:                  "",
		`"read:plants"`:                  "",
		`"Plants/Read"`:                  "",
		`"xplants/read"`:                 "",
		`"plants/reads"`:                 "",
		`"plants/read/own"`:              "",
		`"https://a.test/plants/read"`:   "",
		`"plants/read\tplants/write"`:    "",
		`"plants/read\u00a0openid"`:      "",
		`"plants/read,plants/write"`:     "",
		`"openid+plants/read"`:           "",
	} {
		for _, claim := range scopeClaims {
			token := es256(issuer, claimsAnd(`"`+claim+`":`+scope))
			checkScopes(t, required, token, allowed)
			if allowed == "" {
				checkScopes(t, optional, token, all)
			} else {
				checkScopes(t, optional, token, allowed)
			}
		}
	}
	both := es256(issuer, claimsAnd(`"scope":"plants/read","scp":["plants/write"]`))
	checkScopes(t, required, both, all)
	checkScopes(t, required, es256(issuer, lastingClaims), "")
	for _, claim := range []string{"permissions", "scopes", "roles", "groups"} { // ignored claims
		token := es256(issuer, claimsAnd(`"`+claim+`":["plants/read"]`))
		checkScopes(t, required, token, "")
		checkScopes(t, optional, token, all)
	}
}

var scopeClaims = []string{"scope", "scp"}

// checkScopes checks that the token grants exactly the allowed scopes.
func checkScopes(t *testing.T, v *auth.Verifier, token, allowed string) {
	t.Helper()
	for range 2 { // verified, then cached
		caller, err := v.Authenticate(t.Context(), bearer(token))
		checkResult(t, caller, err, "")
		for _, scope := range []string{"plants/read", "plants/write", "", "plants/", "plants/admin"} {
			if got, want := caller.Allows(scope), slices.Contains(strings.Fields(allowed), scope); got != want {
				t.Errorf("%q: got %t, want %t: %s", scope, got, want, token)
			}
		}
	}
}

// The log quotes the scopes in a restricted token. If none is a scope of the service, the
// log also tells the operator what to change.
func TestScopeDiagnosis(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	required, optional := issuer.Verifier(t, auth.Config{}), issuer.Verifier(t, auth.Config{ScopesOptional: true})
	const change = "no scope of this service: configure the issuer to include it in scope or scp, or, to let such tokens do everything, " +
		"set REQUIRE_SCOPES=false (in a deployment, RequireScopes=false)"
	for claims, want := range map[string]string{
		`"x":0`:                                   `it names "", ` + change,
		`"scope":"openid plants:read"`:            `it names "openid plants:read", ` + change,
		`"scope":["openid","email"],"scp":"x"`:    `it names "openid email x", ` + change,
		`"scope":"openid plants/read"`:            `it names "openid plants/read"`,
		`"scp":"` + strings.Repeat("x", 65) + `"`: `it names "` + strings.Repeat("x", 64) + `…", ` + change,
	} {
		token := es256(issuer, claimsAnd(claims))
		for _, v := range []*auth.Verifier{required, optional} {
			caller, err := v.Authenticate(t.Context(), bearer(token))
			checkResult(t, caller, err, "")
			if v == optional && strings.HasSuffix(want, change) {
				want = ""
			}
			if got := caller.ScopeDiagnosis(); got != want {
				t.Errorf("%s: restricted because %q, want %q", claims, got, want)
			}
		}
	}
}
