package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	cfg := config.Config{Tokens: auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, KeysURL: keys.URL, RequireScopes: new(false)}}
	if _, err := newHandler(t.Context(), options{}, cfg, new(stores), slog.New(slog.DiscardHandler)); err != nil || !fetched {
		t.Errorf("keys fetched: %t, %v", fetched, err)
	}
}
