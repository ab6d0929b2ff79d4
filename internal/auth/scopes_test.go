package auth_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A token grants the scopes that it names exactly. A token that names no scope of the
// service grants none or, if scopes are optional, all. Then the log says what to change.
func TestScopes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	base := strings.Replace(strings.TrimSuffix(lastingClaims, "}"), `,"scope":"plants/read"`, "", 1)
	for _, test := range []struct{ claims, grants, named string }{
		{`"scope":"plants/read"`, "plants/read", ""},
		{`"scope":"openid  plants/write email"`, "plants/write", "openid  plants/write email"},
		{`"scope":["openid","plants/read"]`, "plants/read", "openid plants/read"},
		{`"scp":["plants/read plants/write"]`, "plants/read plants/write", ""},
		{`"scp":"plants/write"`, "plants/write", "plants/write"},
		{`"scope":"plants/read","scp":["plants/write"]`, "plants/read plants/write", ""},
		{`"scope":["openid,email","plants/read"]`, "plants/read", ""},
		{`"scope":"plants:write plants/read"`, "plants/read", "plants:write plants/read"},
		{`"x":0`, "", ""},
		{`"scope":""`, "", ""},
		{`"scope":[],"scp":"x"`, "", "x"},
		{`"scope":"openid plants"`, "", "openid plants"},
		{`"scope":"plants/ plants/admin plants/reads plants/read/own xplants/read"`, "", "plants/ plants/admin"},
		{`"scp":["plants:read","plants.read"]`, "", "plants:read plants.read"},
		{`"scp":["read:plants","Plants/Read"]`, "", "read:plants Plants/Read"},
		{`"scope":"https://a.test/plants/read openid+plants/read"`, "", ""},
		{`"scope":"plants/read\tplants/write"`, "", ""},
		{`"scope":"plants/read\u00a0openid"`, "", ""},
		{`"scope":"plants/read,plants/write"`, "", "plants/read,plants/write"},
		{`"permissions":["plants/read"],"scopes":"plants/read","roles":["plants/read"],"groups":["plants/read"]`, "", ""},
		{`"scp":"` + strings.Repeat("x", 65) + `"`, "", strings.Repeat("x", 64) + "…"},
	} {
		t.Run(test.claims, func(t *testing.T) {
			token := es256(issuer, base+","+test.claims+"}")
			for _, optional := range []bool{false, true} {
				v := issuer.Verifier(t, auth.Config{ScopesOptional: optional})
				granted := strings.Fields(test.grants)
				if optional && test.grants == "" {
					granted = []string{"plants/read", "plants/write"}
				}
				for _, scope := range []string{"plants/read", "plants/write", "", "plants/", "plants/admin"} {
					caller, err := v.Authenticate(t.Context(), bearer(token), scope)
					if caller.Subject != "alice" || slices.Contains(granted, scope) != (err == nil) ||
						err != nil && !errors.Is(err, auth.ErrScope) {
						t.Errorf("%q, optional %t: got %v, want %q to be granted", scope, optional, err, granted)
					}
					if err == nil {
						continue
					}
					hint := strings.Contains(err.Error(),
						", no scope of this service: configure the issuer to include it in scope or scp")
					if !strings.Contains(err.Error(), test.named) || hint != (len(granted) == 0) {
						t.Errorf("%q: got %v, want %q", scope, err, test.named)
					}
				}
			}
		})
	}
}
