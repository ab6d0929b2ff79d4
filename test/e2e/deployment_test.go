package e2e

import (
	"flag"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
	"example.com/plantstore/test/session"
)

var (
	baseURL  = flag.String("base", "", "base `URL` of the deployment that TestDeployment tests")
	tokenURL = flag.String("token-url", "",
		"`URL` of the token endpoint that gives tokens to the clients in PLANTS_CLIENT_1 and so on")
)

// TestDeployment runs the session of package session on a running deployment, which can be
// in use. "make acceptance" calls it:
//
//	make acceptance BASE=https://… TOKEN_URL=https://…/oauth2/token
//	go test ./test/e2e -run '^TestDeployment$' -v -base https://… -token-url https://…/oauth2/token
//
// The session needs two users without plants, and deletes the plants that it creates.
// Environment variables name the users: PLANTS_TOKEN_1 and PLANTS_TOKEN_2 are access
// tokens, such as those of people; PLANTS_CLIENT_1 and PLANTS_CLIENT_2 are clients for the
// client credentials grant, as id:secret. One user is enough for all but the requests of
// another user.
func TestDeployment(t *testing.T) {
	if *baseURL == "" {
		t.Skip("no -base: there is no deployment to test")
	}
	front := session.Front{
		Base:  strings.TrimSuffix(*baseURL, "/"),
		Alice: userToken(t, "1"),
		Bob:   userToken(t, "2"),
		Lag:   dynamoLag,
	}
	if front.Alice == "" {
		t.Fatal("no user: set PLANTS_TOKEN_1 to an access token, or -token-url and PLANTS_CLIENT_1 to id:secret")
	}
	req, err := http.NewRequest("GET", front.Base+"/plants", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, _ := harness.Send(t, req)
	front.Gateway = resp.Header.Get("Apigw-Requestid") != ""
	session.Run(t, front)
}

// userToken returns the access token of a user, or "" if the environment doesn't name one.
func userToken(t *testing.T, number string) string {
	t.Helper()
	client := os.Getenv("PLANTS_CLIENT_" + number)
	if token := os.Getenv("PLANTS_TOKEN_" + number); token != "" || client == "" {
		return token
	}
	if *tokenURL == "" {
		t.Fatalf("PLANTS_CLIENT_%s needs TOKEN_URL (-token-url): set it to the issuer's token_endpoint", number)
	}
	id, secret, _ := strings.Cut(client, ":")
	token, err := plainserver.RequestToken(*tokenURL, url.Values{"client_id": {id}, "client_secret": {secret}})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// The session runs on the plain server with the embedded store and the program's own tokens.
// It uses the users that it is given, and leaves their plants alone.
func TestDeploymentOfServer(t *testing.T) {
	t.Parallel()
	p := start(t, harness.Environ(), t.TempDir())
	alice, bob, basil := p.user(t, "alice"), p.user(t, "bob"), plantstest.Example(7)
	bob.Create(basil)
	for env, want := range map[string]string{
		"PLANTS_CLIENT_1=alice: PLANTS_CLIENT_2=carol:secret": `(?s)^=== RUN   TestDeployment\n--- PASS`,
		"PLANTS_TOKEN_1=" + alice.Token:                       `(?s)no token for a second user.*--- PASS`,
		"PLANTS_TOKEN_1=" + bob.Token:                         "(?s)alice can't be used.*--- FAIL",
		"X=":                                                  "(?s)no user: set PLANTS_TOKEN_1.*--- FAIL",
	} {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestDeployment$",
			"-base", p.Base+"/", "-token-url", p.Base+"/oauth2/token")
		cmd.Env = harness.Environ("PLANTS_TOKEN_1=", "PLANTS_TOKEN_2=", "PLANTS_CLIENT_1=", "PLANTS_CLIENT_2=")
		cmd.Env = append(cmd.Env, strings.Fields(env)...)
		if out, _ := cmd.CombinedOutput(); !regexp.MustCompile(want).Match(out) { // an error if it fails
			t.Errorf("%.20s: want %s in\n%s", env, want, out)
		}
	}
	alice.Owns()
	bob.Owns(basil)
}
