package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
)

// The keys of another issuer are there before the first request needs them.
func TestKeysAtStart(t *testing.T) {
	issuer, fetched := authtest.NewIssuer(t), false
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched = true
		w.Write(issuer.JWKS())
	}))
	defer keys.Close()
	cfg := config.Config{Tokens: auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, KeysURL: keys.URL, ScopePolicy: auth.ScopesOptional}}
	if _, err := newHandler(t.Context(), options{}, cfg, new(stores), slog.New(slog.DiscardHandler)); err != nil || !fetched {
		t.Errorf("keys fetched: %t, %v", fetched, err)
	}
}

// A client that reaches the program under the host name of -addr gets a token.
func TestNamedHost(t *testing.T) {
	handler, err := newHandler(t.Context(), options{addr: "plants.test:8080", data: t.TempDir()}, config.Config{}, new(stores), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for host, status := range map[string]int{"plants.test": 200, "other.test": 403} {
		r := httptest.NewRequest("POST", "http://"+host+":8080/oauth2/token", strings.NewReader("grant_type=client_credentials&client_id=alice"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != status {
			t.Errorf("%s: %d %s, want status %d", host, w.Code, w.Body, status)
		}
	}
}
