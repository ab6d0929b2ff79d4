package e2e

import (
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/program"
)

// Tokens and plants outlive a restart, even if the port changes. Tokens of
// another data directory are invalid. With LOG_LEVEL=error, none of this is
// logged.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, program.Environ("LOG_LEVEL=error"), dir)
	c, token := p.user(t)
	id := randomID()
	createAll(t, c, token, plant{ID: &id, Name: "Basil"})
	p.Stop(t)
	if log := p.Stdout.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
	again, other := start(t, program.Environ(), dir), start(t, program.Environ(), t.TempDir())
	expectPlants(t, newClient(again.target()), token, plant{ID: &id, Name: "Basil"})
	expect(t, newClient(other.target()), token, "GET", 401, 40101)
}

// A page whose host name resolves to this machine (DNS rebinding) gets no token,
// and without -expose-issuer neither does another machine.
func TestForeignHost(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	for host, status := range map[string]string{"localhost": "200", "evil.example": "403", "192.0.2.1": "403"} {
		a := p.rawExchange(t, "POST /oauth2/token HTTP/1.1\r\nHost: "+host+"\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
			"Content-Length: 45\r\n\r\ngrant_type=client_credentials&client_id=alice")
		if !strings.HasPrefix(a, "HTTP/1.1 "+status+" ") || strings.Contains(a, "access_token") != (status == "200") {
			t.Errorf("Host %s: want status %s, got\n%s", host, status, a)
		}
	}
}

// With another issuer the program accepts only its tokens, issues none, and may
// listen on any address.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	p := start(t, program.Environ(trust(staticKeys(issuer))...), t.TempDir(), "-addr", "0.0.0.0:0")
	c := newClient(docsPage.target(p.Base, nil))
	expect(t, c, p.keep(issuer.SignRS256(authtest.Claims("alice"))), "GET", 200, 0)
	claims := authtest.Claims("alice")
	claims["iss"] = "urn:plantstore:local"
	expect(t, c, p.keep(issuer.Sign(claims)), "GET", 401, 40101)
	for _, path := range []string{"/oauth2/token", "/.well-known/jwks.json"} {
		expectAnswer(t, c, request{method: "GET", target: path}, 404, 40401)
	}
	if !strings.HasPrefix(p.Base, "http://localhost:") {
		t.Errorf("the address %s can't be opened in a browser", p.Base)
	}
	if text := p.Stderr.String(); strings.Contains(text, "curl") {
		t.Errorf("the start-up messages show how to get a token that is not accepted:\n%s", text)
	}
}
