package e2e

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/program"
)

// dynamoLag is the longest lag of the index that lists read.
const dynamoLag = 5 * time.Second

// TestBolt runs the suite on the embedded store, with the program's own tokens.
func TestBolt(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	Run(t, p.target())
	// The suite has removed its plants.
	c := newClient(p.target())
	for _, token := range p.tokens {
		if a, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)}); err != nil || a.status == 200 && string(a.body) != "[]\n" {
			t.Errorf("left behind: %.300s, %v", a.body, err)
		}
	}
}

// TestDynamoDB runs the suite on DynamoDB Local, in a table that the program
// creates, with the tokens of an issuer that the environment names, and with
// pages of another origin allowed, which changes nothing but Vary.
func TestDynamoDB(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(issuer.JWKS()) }))
	defer keys.Close()
	env := append(dynamolocal.Environ(dynamolocal.Endpoint(t), "e2e-"+cryptorand.Text()), trust(config.TokenJWKSURL+"="+keys.URL)...)
	p := start(t, program.Environ(append(env, config.CORSOrigins+"=https://page.example")...), t.TempDir())
	target := docsPage.target(p.Base, func(_ testing.TB, r TokenRequest) string { return p.keep(sign(issuer, r)) })
	target.Lag = dynamoLag
	Run(t, target)
}

// trust returns the environment of a program that trusts issuers of package
// authtest. Keys is the variable that says where their keys are.
func trust(keys string) []string {
	return []string{config.TokenIssuer + "=" + authtest.IssuerURL, config.TokenAudience + "=other, " + authtest.Audience, keys}
}
