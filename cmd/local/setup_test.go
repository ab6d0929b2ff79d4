package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
)

// The keys of another issuer are fetched at start, before a request waits for them.
func TestKeysAreLoaded(t *testing.T) {
	var fetches atomic.Int32
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		w.Write(authtest.NewIssuer(t).JWKS())
	}))
	defer keys.Close()
	cfg := config.Config{Tokens: auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, KeysURL: keys.URL}}
	if _, err := newHandler(t.Context(), options{}, cfg, new(stores), slog.New(slog.DiscardHandler)); err != nil || fetches.Load() != 1 {
		t.Errorf("%v after %d fetches of the keys, want 1", err, fetches.Load())
	}
}
