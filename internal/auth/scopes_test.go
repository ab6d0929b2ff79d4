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
		{`"read_plants2"`, all, ""},
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
		{`"x,read:plants y"`, "", "x,read:plants y"},
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
func checkScopes(t *testing.T, v *auth.Verifier, token, allowed, why string) {
	t.Helper()
	for range 2 { // verified, then cached
		caller, err := v.Authenticate(t.Context(), bearer(token))
		checkResult(t, caller, err, "")
		if got := caller.WhyRestricted(); got != why {
			t.Errorf("restricted because %q, want %q", got, why)
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
