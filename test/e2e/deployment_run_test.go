package e2e

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/program"
)

var skipped = regexp.MustCompile(`(?m)^=== RUN +TestDeployment/suite/(\S+)\n +\S+: (.*)$`)

// testDeployment runs some parts of TestDeployment in a process of its own,
// expects them to pass, and returns the reasons of those that it skipped.
func testDeployment(t *testing.T, env []string, args ...string) map[string]string {
	t.Helper()
	out, err := rerun(t, env, append([]string{"-test.run=^TestDeployment$/^suite$/^(auth.*|create|list|list-order|routes|users)$"}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	reasons := map[string]string{}
	for _, m := range skipped.FindAllStringSubmatch(string(out), -1) {
		reasons[m[1]] = m[2]
	}
	return reasons
}

// With two clients of an issuer, all but two parts run.
func TestDeploymentOfServer(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	env := []string{"PLANTS_CLIENT_1=alice:", "PLANTS_CLIENT_2=bob &:secret"}
	reasons := testDeployment(t, env, "-base", p.Base+"/", "-token-url", p.Base+"/oauth2/token")
	if got, want := slices.Sorted(maps.Keys(reasons)), []string{"auth-expired", "list-order"}; !slices.Equal(got, want) {
		t.Errorf("skipped %v, want %q", reasons, want)
	}
	for _, subject := range []string{"alice", "bob &"} {
		expectPlants(t, newClient(p.target()), p.token(t, TokenRequest{Subject: subject}))
	}
}

// With a single token, what needs other tokens is skipped.
func TestDeploymentBehindHTTPAPI(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	f := startFunction(t, issuer, functionOptions(t, dynamolocal.Endpoint(t), staticKeys(issuer)))
	c, token := f.user()
	reasons := testDeployment(t, []string{"PLANTS_TOKEN_1=" + token}, "-base", f.base)
	for part, want := range map[string]string{
		"auth-expired": "needs an expired token",
		"auth-scopes":  "needs a token with the scopes [plants/write]: set -token-url and PLANTS_CLIENT_1",
		"users":        "needs 2 users, but the target has only 1",
		"create":       "",
		"list":         "",
	} {
		if reasons[part] != want {
			t.Errorf("%s was skipped with the reason %q, want %q", part, reasons[part], want)
		}
	}
	expectPlants(t, c, token)
}

// TestDeployment fails if it can't run or if the deployment is wrong, and keeps
// its hands off plants that it hasn't created.
func TestDeploymentFails(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	c, token := p.user(t)
	id := randomID()
	basil := plant{ID: &id, Name: "Basil"}
	createAll(t, c, token, basil)
	wrong := stub(t, func(w http.ResponseWriter, _ *http.Request) { respond(200, "[]\n")(w) })
	for name, test := range map[string]struct{ base, env, want string }{
		"plants":         {p.Base, "PLANTS_TOKEN_1=" + token, "user 1 has plants"},
		"no user":        {p.Base, "PLANTS_TOKEN_1=", "set PLANTS_TOKEN_1"},
		"no token URL":   {p.Base, "PLANTS_CLIENT_1=alice:x", "-token-url"},
		"invalid token":  {p.Base, "PLANTS_TOKEN_1=x", "40101"},
		"wrong answers":  {wrong.Base, "PLANTS_TOKEN_1=" + token, "--- FAIL: TestDeployment/suite/create-media"},
		"no deployment":  {"http://127.0.0.1:1", "PLANTS_TOKEN_1=" + token, "connection refused"},
		"no -base: skip": {"", "PLANTS_TOKEN_1=" + token, "--- SKIP: TestDeployment"},
	} {
		out, err := rerun(t, []string{test.env}, "-test.run=^TestDeployment$/^suite$/^create-media$", "-base", test.base).CombinedOutput()
		if !strings.Contains(string(out), test.want) || (err == nil) != (test.base == "") {
			t.Errorf("%s: %v, want %q:\n%s", name, err, test.want, out)
		}
	}
	expectPlants(t, c, token, basil)
}
