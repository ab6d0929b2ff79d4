package e2e

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/session"
)

// With another issuer and DynamoDB the program creates the table, accepts only that
// issuer's tokens, issues none, and may listen on any address.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(issuer.JWKS()) }))
	defer keys.Close()
	env := append(trust(config.EnvTokenJWKSURL+"="+keys.URL),
		dynamolocal.Environ(dynamolocal.Endpoint(t), "e2e-"+rand.Text())...)
	p := start(t, harness.Environ(env...), t.TempDir(), "-addr", "0.0.0.0:0")
	session.Run(t, session.Front{
		Base:  p.Base,
		Alice: issuer.SignRS256(authtest.Claims("alice", handlers.Scopes()...)),
		Bob:   issuer.Token("bob", handlers.Scopes()...),
		Lag:   dynamoLag,
	})
	claims := authtest.Claims("alice")
	claims["iss"] = "urn:plantstore:local"
	u := newClient(t, p.Base, issuer.Sign(claims))
	u.Do("GET", "/plants").Fails(40101)
	for _, path := range []string{"/oauth2/token", "/.well-known/jwks.json"} {
		u.Do("GET", path).Fails(40401)
	}
	if !strings.HasPrefix(p.Base, "http://localhost:") {
		t.Errorf("the address %s can't be opened in a browser", p.Base)
	}
	if text := p.Stderr.String(); strings.Contains(text, "curl") {
		t.Errorf("the start-up messages show how to get a token that is not accepted:\n%s", text)
	}
}
