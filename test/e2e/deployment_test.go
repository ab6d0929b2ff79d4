package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
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
	target.Exceptions["list-order"] = "it uses small ids, which may be in use"
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
