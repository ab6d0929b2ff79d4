// Package plainserver runs the plain server, cmd/local, for tests.
package plainserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// A Server is a process of the plain server.
type Server struct {
	*harness.Process
	Base string // the base address
}

// Launch starts the server with its data in dir, and kills it when the test ends. It listens
// on a free port of the loopback interface unless args say otherwise.
func Launch(tb testing.TB, env []string, dir string, args ...string) *harness.Process {
	tb.Helper()
	binary, err := harness.Build("cmd/local")
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(binary, append([]string{"-addr", "127.0.0.1:0", "-data", dir}, args...)...)
	cmd.Env = env
	p, err := harness.Start(cmd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Kill)
	return p
}

// Start calls [Launch] and waits until the server listens.
func Start(tb testing.TB, env []string, dir string, args ...string) *Server {
	tb.Helper()
	p := Launch(tb, env, dir, args...)
	return &Server{p, p.Await(tb, `(?m)^listening on (http://\S+)\n`)[1]}
}

// Token returns an access token from the server's own issuer.
func (s *Server) Token(tb testing.TB, form url.Values) string {
	tb.Helper()
	token, err := RequestToken(s.Base+"/oauth2/token", form)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// RequestToken returns an access token for a client (RFC 6749 section 4.4). The form
// is that of the token request, without the grant type.
func RequestToken(tokenURL string, form url.Values) (string, error) {
	form.Set("grant_type", "client_credentials")
	req, err := http.NewRequest(http.MethodPost, tokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, body, err := harness.RoundTrip(req)
	if err != nil {
		return "", err
	}
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &grant); err != nil || grant.AccessToken == "" {
		return "", fmt.Errorf("no token from %s: %s %s", tokenURL, resp.Status, body)
	}
	return grant.AccessToken, nil
}
