package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
)

// trusting returns an environment that configures issuer.
func trusting(issuer *authtest.Issuer) (getenv func(string) string) {
	env := map[string]string{
		config.TokenIssuer:   authtest.IssuerURL,
		config.TokenAudience: authtest.Audience,
		config.TokenJWKS:     string(issuer.JWKS()),
	}
	return func(name string) string { return env[name] }
}

// With any issuer, the page and the document are served, the service answers all
// other paths, and the banner mentions the page.
func TestPagePaths(t *testing.T) {
	for name, getenv := range map[string]func(string) string{
		"own issuer":   noEnv,
		"other issuer": trusting(authtest.NewIssuer(t)),
	} {
		base := startWith(t, getenv)
		for _, test := range []struct {
			method, path string
			status       int
			want         string
		}{
			{"GET", "/", 200, "<title>Plant Store</title>"},
			{"GET", "/openapi.yaml", 200, "openapi: 3.1"},
			{"POST", "/", 404, `"error":40401`},
			{"GET", "/docs/", 404, `"error":40401`},
			{"GET", "/plants", 401, `"error":40100`},
		} {
			req, err := http.NewRequestWithContext(t.Context(), test.method, base+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != test.status || !strings.Contains(string(body), test.want) {
				t.Errorf("%s: %s %s: %s %.200s, %v, want %d with %s", name, test.method, test.path, resp.Status, body, err, test.status, test.want)
			}
		}
	}
	var out bytes.Buffer
	banner(&out, "http://127.0.0.1:1", "a file", false)
	if want := "try it in a browser: http://127.0.0.1:1/\n"; !strings.Contains(out.String(), want) {
		t.Errorf("banner %q, want %q in it", &out, want)
	}
}
