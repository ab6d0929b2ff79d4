//go:build issuers

package issuers

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

func TestMain(m *testing.M) { harness.Main(m) }

// audience is the audience of access tokens, unless the issuer sets its own.
const audience = "plants"

// An issuer is a running issuer, with functions that request tokens from it.
type issuer struct {
	url        string
	settings   []string // for the plain server, in addition to the issuer and the audience
	idAudience string   // of ID tokens, which the server also accepts

	access func(scopes ...string) string // an access token for audience
	id     func() string                 // an ID token
	rotate func()                        // makes a new key; nil if the issuer can't do that
}

// startLimit is for the start of an issuer: that of Keycloak takes minutes on a slow machine.
const startLimit = 5 * time.Minute

// start starts a command, and returns the first group of the first match of
// ready in its output. The process ends with the test.
func start(t *testing.T, cmd *exec.Cmd, ready string) string {
	t.Helper()
	p, err := harness.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p.AwaitFor(t, startLimit, ready)[1]
}

// send returns the body of the response to a request, whose status must be 200
// or 201.
func send(t *testing.T, req *http.Request, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	resp, body := harness.Send(t, req)
	if resp.StatusCode > http.StatusCreated {
		t.Fatalf("%s %s: %s %s", req.Method, req.URL, resp.Status, body)
	}
	return []byte(body)
}

// try runs the plain server with the issuer's name, the audiences and i.settings, and
// checks what it accepts.
func (i issuer) try(t *testing.T) {
	environ := append(i.settings, "TOKEN_ISSUER="+i.url, "TOKEN_AUDIENCE="+audience+","+i.idAudience)
	p, basil := plainserver.Start(t, harness.Environ(environ...), t.TempDir()), plantstest.Example(7)
	expect := func(token, method, path string, status int, want string) {
		t.Helper()
		req, err := http.NewRequest(method, p.Base+path, strings.NewReader(plantstest.CreateJSON(basil)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		if resp, body := harness.Send(t, req); resp.StatusCode != status || !strings.Contains(body, want) {
			t.Errorf("%s %s: got %d %s; want %d %s\n%s", method, path, resp.StatusCode, body, status, want, p.Stdout.String())
		}
	}
	token := i.access("plants/read", "plants/write")
	expect(token, "POST", "/plants", 200, basil.Name)
	expect(token, "GET", "/plants", 200, basil.Name)
	expect(token, "DELETE", "/plants/7", 204, "")
	expect(i.id(), "GET", "/plants", 401, "40101")
	if i.rotate == nil {
		return
	}
	read := i.access("plants/read")
	expect(read, "GET", "/plants", 200, "[")
	expect(read, "POST", "/plants", 403, "40300")
	i.rotate()
	harness.Await(t, func() error {
		token = i.access("plants/read")
		if header, _, _ := strings.Cut(token, "."); strings.HasPrefix(read, header) {
			return fmt.Errorf("still the old key: %s", header)
		}
		return nil
	})
	time.Sleep(auth.RetryAfter) // by then, a new key works
	expect(token, "GET", "/plants", 200, "[")
	expect(read, "GET", "/plants", 200, "[")
}
