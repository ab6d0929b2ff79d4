package e2e

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/tools"
)

// refuses checks that the program does not start and prints the reason in one
// line that contains all the words. The exit code is 2 for wrong usage, else 1.
func refuses(t *testing.T, env []string, dir string, args []string, words ...string) {
	t.Helper()
	p := tools.LaunchServer(t, env, dir, args...)
	code := p.Wait()
	line := p.Stderr.String()
	want := 1
	if strings.Contains(line, "see -help") {
		want = 2
	}
	if code != want || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("exit code %d, want %d after a single line:\n%s", code, want, line)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("%q is missing in: %s", word, line)
		}
	}
	if log := p.Stdout.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
}

// The program names an invalid setting, whichever part of it notices.
func TestInvalidSettings(t *testing.T) {
	for name, test := range map[string]struct{ env, args, words string }{
		"log level":               {env: "LOG_LEVEL=loud", words: "LOG_LEVEL loud"},
		"unreachable endpoint":    {env: "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", words: "http://127.0.0.1:1 DynamoDB Local"},
		"unknown flag":            {args: "-port 8080", words: "-port -help"},
		"address of another host": {args: "-addr 192.0.2.1:0", words: "-addr 192.0.2.1"},
		"data in a file":          {args: "-data start_test.go/data", words: "-data start_test.go/data directory"},
		"exposed issuer":          {args: "-addr 0.0.0.0:0", words: "-addr 0.0.0.0:0 -expose-issuer"},
		"issuer for all pages":    {env: "CORS_ORIGINS=http://a.example,*", words: "CORS_ORIGINS=* -expose-issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			aws := []string{"AWS_REGION=local", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x"}
			env := tools.Environ(append(aws, strings.Fields(test.env)...)...)
			refuses(t, env, filepath.Join(t.TempDir(), "data"), strings.Fields(test.args), strings.Fields(test.words)...)
		})
	}
}

// A second process on the same data does not start, and does not disturb the
// first one. Nor does one that can't have its port.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, tools.Environ(), dir)
	refuses(t, tools.Environ(), dir, nil, filepath.Join(dir, "plants.db"), "another process")
	addr := strings.TrimPrefix(p.Base, "http://")
	refuses(t, tools.Environ(), t.TempDir(), []string{"-addr", addr}, "-addr", addr, "another port")
	u, basil := p.user(t), newPlant()
	plants.postAll(t, u, basil)
	plants.expect(t, u, basil)
}

// Tokens and plants outlive a restart, even if the port changes. Tokens of
// another data directory are invalid. With LOG_LEVEL=error, none of this is
// logged.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, tools.Environ("LOG_LEVEL=error"), dir)
	u, basil := p.user(t), newPlant()
	plants.postAll(t, u, basil)
	p.stop(t)
	messages := regexp.MustCompile(`(?s)\nplants are kept in \S+plants\.db \(to start over.* TOKEN=\$\(curl [^\n]*\nstopped\n$`)
	if text := p.Stderr.String(); !messages.MatchString(text) { // it waits for nothing when it stops
		t.Errorf("it prints:\n%s\nwant %s", text, messages)
	}
	if log := p.Stdout.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
	again, other := start(t, tools.Environ(), dir), start(t, tools.Environ(), t.TempDir())
	plants.expect(t, newClient(again.target(), u.token), basil)
	newClient(other.target(), u.token).expectList(t, 401)
}

// A page whose host name resolves to this machine (DNS rebinding) gets no token,
// and without -expose-issuer neither does another machine.
func TestForeignHost(t *testing.T) {
	t.Parallel()
	hidden := start(t, tools.Environ(), t.TempDir())
	exposed := start(t, tools.Environ(), t.TempDir(), "-addr", "0.0.0.0:0", "-expose-issuer")
	for _, test := range []struct {
		p            *server
		host, status string
	}{{hidden, "localhost", "200"}, {hidden, "192.0.2.1", "403"}, {exposed, "192.0.2.1", "200"}} {
		a := test.p.rawExchange(t, "POST /oauth2/token HTTP/1.1\r\nHost: "+test.host+"\r\nConnection: close\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 45\r\n\r\ngrant_type=client_credentials&client_id=alice")
		if !strings.HasPrefix(a, "HTTP/1.1 "+test.status+" ") || strings.Contains(a, "access_token") != (test.status == "200") {
			t.Errorf("%+v: got\n%s", test, a)
		}
	}
}

// With another issuer and DynamoDB the program creates the tables, accepts only that
// issuer's tokens, issues none, and may listen on any address.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(issuer.JWKS()) }))
	defer keys.Close()
	env := append(trust(config.TokenJWKSURL+"="+keys.URL), dynamolocal.Environ(dynamolocal.Endpoint(t), "e2e-"+rand.Text()+"-")...)
	p := start(t, tools.Environ(env...), t.TempDir(), "-addr", "0.0.0.0:0")
	target := p.target()
	target.Lag = dynamoLag
	u, id := newClient(target, issuer.SignRS256(authtest.Claims("alice"))), randomID()
	for _, r := range resources() { // each has its own table
		r.postAll(t, u, r.example(id))
		r.expect(t, u, r.example(id))
	}
	claims := authtest.Claims("alice")
	claims["iss"] = "urn:plantstore:local"
	u.as(issuer.Sign(claims)).expectList(t, 401)
	for _, path := range []string{"/oauth2/token", "/.well-known/jwks.json"} {
		if _, err := u.send(t, request{Method: "GET", Target: path}, 404); err != nil {
			t.Error(err)
		}
	}
	if !strings.HasPrefix(p.Base, "http://localhost:") {
		t.Errorf("the address %s can't be opened in a browser", p.Base)
	}
	if text := p.Stderr.String(); strings.Contains(text, "curl") {
		t.Errorf("the start-up messages show how to get a token that is not accepted:\n%s", text)
	}
}
