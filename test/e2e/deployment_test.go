package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/harness"
)

var (
	baseURL  = flag.String("base", "", "base `URL` of the deployment that TestDeployment tests")
	tokenURL = flag.String("token-url", "", "`URL` of the token endpoint that gives tokens to the clients in PLANTS_CLIENT_1 and so on")
)

// dynamoLag is the longest lag of the index that lists read.
const dynamoLag = 5 * time.Second

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
	tokens, subjects := &deploymentTokens{got: map[TokenRequest]string{}}, []string{}
	for n := 1; n <= len(userNames); n++ {
		if os.Getenv(fmt.Sprint("PLANTS_TOKEN_", n)) == "" && os.Getenv(fmt.Sprint("PLANTS_CLIENT_", n)) == "" {
			break
		}
		subjects = append(subjects, fmt.Sprint(n))
	}
	if len(subjects) == 0 {
		t.Fatal("no user: set PLANTS_TOKEN_1 to an access token, or -token-url and PLANTS_CLIENT_1 to id:secret")
	}
	except := maps.Clone(exceptions(t, base))
	gateway := maps.Equal(except, httpAPI)
	if gateway {
		except["routes: get"], except["routes: delete /plants/1"] = "a gateway may change the case of a method", "a gateway may change the case of a method"
	}
	except["cors"] = "it depends on the deployment's CorsOrigins"
	target := Target{Base: base, Token: tokens.get, Subjects: subjects, Lag: dynamoLag, Gateway: gateway, Exceptions: except}
	for _, subject := range subjects {
		u := newClient(target, tokens.get(t, TokenRequest{Subject: subject}))
		for _, r := range resources() {
			a, err := u.send(t, request{Method: "GET", Target: r.Path + "?limit=1"}, 200)
			if err != nil {
				t.Fatalf("user %s: %v", subject, err)
			}
			if a.body != "[]\n" {
				t.Fatalf("user %s has %s, which the suite would delete: choose a user without any", subject, r.Path[1:])
			}
		}
	}
	Run(t, target)
}

// deploymentTokens gets the tokens of users, who are known by their number. It
// keeps them, since issuers may charge for each.
type deploymentTokens struct{ got map[TokenRequest]string }

func (d *deploymentTokens) get(tb testing.TB, r TokenRequest) string {
	tb.Helper()
	given, client := os.Getenv("PLANTS_TOKEN_"+r.Subject), os.Getenv("PLANTS_CLIENT_"+r.Subject)
	switch {
	case r.Expired:
		tb.Skip("needs an expired token")
	case d.got[r] != "":
		return d.got[r]
	case given != "" && r.Scopes != "":
		tb.Skipf("needs a token with the scopes %s: set -token-url and PLANTS_CLIENT_%s", r.Scopes, r.Subject)
	case given != "":
		return given
	}
	id, secret, _ := strings.Cut(client, ":")
	form := url.Values{"client_id": {id}, "client_secret": {secret}}
	if r.Scopes != "" {
		form.Set("scope", r.Scopes)
	}
	token, err := harness.RequestToken(*tokenURL, form)
	if err != nil && r.Scopes != "" {
		tb.Skipf("needs a token with the scopes %s: %v", r.Scopes, err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	d.got[r] = token
	return token
}

// The suite tests a deployment with the users that it is given, and skips what needs
// other tokens. It does nothing if a user has plants.
func TestDeploymentOfServer(t *testing.T) {
	t.Parallel()
	p := start(t, harness.Environ(), t.TempDir())
	alice, bob, basil := p.user(t), p.user(t), newPlant()
	plants.postAll(t, bob, basil)
	for env, want := range map[string]string{
		"PLANTS_CLIENT_1=alice: PLANTS_CLIENT_2=bob:secret": `(?s)needs an expired token.*PASS: TestDeployment/suite/auth-scopes.*\nPASS\n`,
		"PLANTS_TOKEN_1=" + alice.token:                     `(?s)set -token-url and PLANTS_CLIENT_1\n.*SKIP: TestDeployment/suite/auth-scopes .*\nPASS\n`,
		"PLANTS_TOKEN_1=" + bob.token:                       "user 1 has plants",
	} {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestDeployment$/^suite$/^auth.*$", "-base", p.Base+"/", "-token-url", p.Base+"/oauth2/token")
		cmd.Env = append(harness.Environ("PLANTS_TOKEN_1=", "PLANTS_TOKEN_2=", "PLANTS_CLIENT_1=", "PLANTS_CLIENT_2="), strings.Fields(env)...)
		if out, _ := cmd.CombinedOutput(); !regexp.MustCompile(want).Match(out) { // an error if it fails
			t.Errorf("%.20s: want %s in\n%s", env, want, out)
		}
	}
	plants.expect(t, alice)
	plants.expect(t, bob, basil)
}
