package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/program"
)

// Tokens outlive a restart, and with it a change of port.
func TestTokenOutlivesRestart(t *testing.T) {
	t.Parallel()
	dir, subject := t.TempDir(), newSubject()
	p := start(t, program.Environ(), dir)
	token := p.token(t, TokenRequest{Subject: subject})
	id := randomID()
	createAll(t, newClient(p.target()), token, []plant{{ID: &id, Name: "Basil"}})
	p.Stop(t)
	again := start(t, program.Environ(), dir)
	plants, err := walk(t, newClient(again.target()), token, "?include=id")
	if err != nil || len(plants) != 1 || *plants[0].ID != id {
		t.Errorf("%v, %v", plants, err)
	}
}

// Those of another data folder are worth nothing.
func TestTokenOfAnotherKey(t *testing.T) {
	t.Parallel()
	p, other := start(t, program.Environ(), t.TempDir()), start(t, program.Environ(), t.TempDir())
	expect(t, newClient(p.target()), other.token(t, TokenRequest{Subject: "alice"}), "GET", 401, 40101)
}

// A web page whose own name leads to this machine gets no token, nor anything
// from a request that a browser may send to another site.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	port := p.Base[strings.LastIndexByte(p.Base, ':')+1:]
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "localhost:" + port: 200, "localhost": 200,
		"evil.example": 403, "evil.example:" + port: 403, "localhost.evil.example": 403, "192.0.2.1": 403,
	} {
		form := strings.NewReader(url.Values{"grant_type": {"client_credentials"}, "client_id": {"alice"}}.Encode())
		r, err := http.NewRequest("POST", p.Base+"/oauth2/token", form)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want || strings.Contains(string(body), "access_token") != (want == 200) {
			t.Errorf("Host %s: %d, want %d\n%s", host, resp.StatusCode, want, body)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("Host %s: other sites' pages may read the answer", host)
		}
	}
}

// expect checks what an operation on the plants answers to a token.
func expect(t *testing.T, c *client, token, method string, status, number int) {
	t.Helper()
	target := map[string]string{"GET": "/plants", "POST": "/plants", "DELETE": "/plants/1"}[method]
	a, err := c.send(t, request{method: method, target: target, headers: bearer(token)})
	if err != nil {
		t.Error(err)
		return
	}
	if a.status != status || number != 0 && !strings.Contains(string(a.body), fmt.Sprintf(`"error":%d,`, number)) {
		t.Errorf("%s: want %d, %d:\n%s", method, status, number, a)
	}
}

// issuerEnviron returns the environment of a program that trusts the issuer.
func issuerEnviron(extra ...string) []string {
	return program.Environ(append(extra, "TOKEN_ISSUER="+authtest.IssuerURL, "TOKEN_AUDIENCE=other, "+authtest.Audience)...)
}

// The suite, with an issuer that the environment names: the program has none
// then.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	p := start(t, issuerEnviron("TOKEN_JWKS="+string(issuer.JWKS())), t.TempDir(), "-addr", "0.0.0.0:0")
	if strings.Contains(p.Stderr.String(), "curl") {
		t.Errorf("it says how to get a token that it doesn't accept:\n%s", p.Stderr.String())
	}
	p.onLoopback(t)
	token := func(_ testing.TB, r TokenRequest) string {
		claims := authtest.Claims(r.Subject, r.Scopes...)
		if r.Expired {
			claims["exp"] = time.Now().Add(-time.Hour).Unix()
		}
		return issuer.Sign(claims)
	}
	c := newClient(Target{Base: p.Base, Token: token, Lacks: localLacks, Observe: documented()})
	expect(t, c, issuer.SignRS256(authtest.Claims("alice")), "GET", 200, 0)
	for claim, value := range map[string]any{"iss": "urn:plantstore:local", "aud": "others", "sub": "", "exp": nil, "token_use": "id"} {
		claims := authtest.Claims("alice")
		claims[claim] = value
		expect(t, c, issuer.Sign(claims), "GET", 401, 40101)
	}
	for _, path := range []string{"/oauth2/token", "/.well-known/jwks.json"} {
		if a, err := c.send(t, request{method: "GET", target: path}); err != nil || a.status != 404 {
			t.Errorf("%s: %v\n%s", path, err, a)
		}
	}
	Run(t, c.Target)
}

// REQUIRE_SCOPES demands of every token what it is used for.
func TestRequireScopes(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	p := start(t, issuerEnviron("REQUIRE_SCOPES=true", "TOKEN_JWKS="+string(issuer.JWKS())), t.TempDir())
	c := newClient(Target{Base: p.Base, Observe: documented()})
	for _, test := range []struct {
		scopes             []string
		get, post, deletes int
	}{
		{nil, 403, 403, 403},
		{[]string{"plants/read"}, 200, 403, 403},
		{[]string{"plants/write"}, 403, 400, 404},
		{[]string{"plants/read", "plants/write"}, 200, 400, 404},
	} {
		token := issuer.Token("alice", test.scopes...)
		expect(t, c, token, "GET", test.get, 0)
		expect(t, c, token, "POST", test.post, 0)
		expect(t, c, token, "DELETE", test.deletes, 0)
	}
}

// The program's own issuer gives tokens that do even then.
func TestRequireScopesOfOwnTokens(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ("REQUIRE_SCOPES=true"), t.TempDir())
	c := newClient(p.target())
	token := c.Token(t, TokenRequest{Subject: "alice"})
	expect(t, c, token, "GET", 200, 0)
	expect(t, c, token, "DELETE", 404, 0)
}

// As long as the issuer's keys can't be had, nobody is let in, and everybody
// is told to come back. Then they are.
func TestKeysUnavailable(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	var published atomic.Bool
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !published.Load() {
			w.WriteHeader(500)
			return
		}
		w.Write(issuer.JWKS())
	}))
	defer keys.Close()
	p := start(t, issuerEnviron("TOKEN_JWKS_URL="+keys.URL), t.TempDir())
	c := newClient(p.target())
	token := issuer.Token("alice")
	p.tokens = append(p.tokens, token)
	expect(t, c, token, "GET", 503, 50300)
	expect(t, c, "x", "GET", 401, 40101)
	published.Store(true)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		a, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)})
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 {
			break
		}
		if a.status != 503 || a.header.Get("Retry-After") != "5" || time.Now().After(deadline) {
			t.Fatalf("the keys are there, but\n%s", a)
		}
	}
	keys.Close()
	expect(t, c, issuer.Token("bob"), "GET", 200, 0) // the keys are kept
}
