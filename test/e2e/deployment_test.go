package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/program"
)

var (
	baseURL  = flag.String("base", "", "base `URL` of the deployment that TestDeployment tests")
	tokenURL = flag.String("token-url", "", "`URL` of the token endpoint that gives tokens to the clients in PLANTS_CLIENT_1 and so on")
)

// TestDeployment runs the suite against a running deployment, which can be in
// use. "make acceptance" calls it:
//
//	make acceptance BASE=https://… TOKEN_URL=https://…/oauth2/token
//	go test ./test/e2e -run '^TestDeployment$' -v -base https://… -token-url https://…/oauth2/token
//
// The suite needs two users without plants, and removes the plants that it
// creates. Environment variables name the users: PLANTS_TOKEN_1 and
// PLANTS_TOKEN_2 are access tokens, such as those of people; PLANTS_CLIENT_1 and
// PLANTS_CLIENT_2 are clients for the client credentials grant, as id:secret.
// With one user, or without a token endpoint, some parts are skipped with the
// reason.
func TestDeployment(t *testing.T) {
	if *baseURL == "" {
		t.Skip("no -base: there is no deployment to test")
	}
	base := strings.TrimSuffix(*baseURL, "/")
	tokens, subjects := &deploymentTokens{got: map[string]string{}}, []string{}
	for n := 1; n <= len(users); n++ {
		if os.Getenv(fmt.Sprint("PLANTS_TOKEN_", n)) == "" && os.Getenv(fmt.Sprint("PLANTS_CLIENT_", n)) == "" {
			break
		}
		subjects = append(subjects, fmt.Sprint(n))
	}
	if len(subjects) == 0 {
		t.Fatal("no user: set PLANTS_TOKEN_1 to an access token, or -token-url and PLANTS_CLIENT_1 to id:secret")
	}
	target := findFront(t, base).target(base, tokens.get)
	target.Subjects, target.Lag = subjects, dynamoLag
	target.Exceptions = maps.Clone(target.Exceptions)
	target.Exceptions["cors"] = "it depends on the deployment's CorsOrigins"
	c := newClient(target)
	for _, subject := range subjects {
		token := tokens.get(t, TokenRequest{Subject: subject})
		a, err := c.send(t, request{method: "GET", target: "/plants?limit=1", headers: bearer(token)})
		if err = want(a, err, 200); err != nil {
			t.Fatalf("user %s: %v", subject, err)
		}
		if string(a.body) != "[]\n" {
			t.Fatalf("user %s has plants, which the suite would delete: choose a user without plants", subject)
		}
	}
	Run(t, target)
}

// deploymentTokens gets the tokens of users, who are known by their number. It
// keeps them, since issuers may charge for each.
type deploymentTokens struct{ got map[string]string }

func (d *deploymentTokens) get(tb testing.TB, r TokenRequest) string {
	tb.Helper()
	given, client := os.Getenv("PLANTS_TOKEN_"+r.Subject), os.Getenv("PLANTS_CLIENT_"+r.Subject)
	key := fmt.Sprint(r)
	switch {
	case r.Expired:
		tb.Skip("needs an expired token")
	case d.got[key] != "":
		return d.got[key]
	case given != "" && r.Scopes != nil:
		tb.Skipf("needs a token with the scopes %s: set -token-url and PLANTS_CLIENT_%s", r.Scopes, r.Subject)
	case given != "":
		return given
	}
	token, err := clientCredentials(*tokenURL, client, r.Scopes)
	if err != nil && r.Scopes != nil {
		tb.Skipf("needs a token with the scopes %s: %v", r.Scopes, err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	d.got[key] = token
	return token
}

// clientCredentials gets a token of a client, "id:secret" (RFC 6749 section 4.4).
func clientCredentials(tokenURL, client string, scopes []string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if scopes != nil {
		form.Set("scope", strings.Join(scopes, " "))
	}
	r, err := http.NewRequest(http.MethodPost, tokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	id, secret, _ := strings.Cut(client, ":")
	r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret)) // section 2.3.1
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", fmt.Errorf("-token-url: %w", err)
	}
	defer resp.Body.Close()
	var grant struct {
		AccessToken      string `json:"access_token"`
		Error            string `json:"error"`
		ErrorDescription string `json:"error_description"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&grant); err != nil || grant.AccessToken == "" {
		return "", fmt.Errorf("%s: %s %s %s", tokenURL, resp.Status, grant.Error, grant.ErrorDescription)
	}
	return grant.AccessToken, nil
}

var skipped = regexp.MustCompile(`(?m)^=== RUN +TestDeployment/suite/(\S+)\n +\S+: (.*)$`)

// testDeployment runs some parts of TestDeployment in a process of its own,
// expects them to pass, and returns the reasons of those that it skipped.
func testDeployment(t *testing.T, env []string, args ...string) map[string]string {
	t.Helper()
	out, err := rerun(t, env, append([]string{"-test.run=^TestDeployment$/^suite$/^(auth.*|create|list|routes|users)$"}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	reasons := map[string]string{}
	for _, m := range skipped.FindAllStringSubmatch(string(out), -1) {
		reasons[m[1]] = m[2]
	}
	return reasons
}

// With two clients of an issuer, all but one part run.
func TestDeploymentOfServer(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	env := []string{"PLANTS_CLIENT_1=alice:", "PLANTS_CLIENT_2=bob &:secret"}
	reasons := testDeployment(t, env, "-base", p.Base+"/", "-token-url", p.Base+"/oauth2/token")
	if got, want := slices.Sorted(maps.Keys(reasons)), []string{"auth-expired"}; !slices.Equal(got, want) {
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
