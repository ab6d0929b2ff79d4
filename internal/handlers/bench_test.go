package handlers

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
)

// A nullStore stores nothing and lists 100 plants, at no cost.
type nullStore struct {
	plants.Store
	page plants.Page
}

func newNullStore() *nullStore {
	tag := "herb"
	s := new(nullStore)
	for id := range int64(100) {
		s.page.Plants = append(s.page.Plants, plants.Plant{ID: id, Name: "Basil", Tag: &tag})
	}
	return s
}

func (*nullStore) Create(context.Context, string, plants.Plant, plants.IdempotencyKey) error {
	return nil
}
func (*nullStore) Delete(context.Context, string, int64) error { return nil }

func (s *nullStore) List(context.Context, string, plants.Query) (plants.Page, error) {
	return s.page, nil
}

// BenchmarkService measures one request without network and store, with a cached
// token and with tokens whose signature must be verified.
func BenchmarkService(b *testing.B) {
	issuer := authtest.NewIssuer(b)
	tokens := config.Tokens{JWKS: string(issuer.JWKS())}
	store, log := newNullStore(), logging.New(io.Discard, slog.LevelInfo)
	seen := New(store, issuer.Verifier(b, config.Tokens{}), log)
	// A new verifier has cached nothing, and is cheap to create.
	first := func() *Service { return New(store, issuer.Verifier(b, tokens), log) }

	for _, op := range []struct{ name, method, path, body string }{
		{"create", "POST", "/plants", `{"id":1,"name":"Basil","tag":"herb"}`},
		{"list100", "GET", "/plants?limit=100", ""},
		{"delete", "DELETE", "/plants/1", ""},
	} {
		for _, token := range []struct {
			name, value string
			service     func() *Service
		}{
			{"seen", issuer.Token("alice"), func() *Service { return seen }},
			{"ES256", issuer.Token("alice"), first},
			{"RS256", issuer.SignRS256(authtest.Claims("alice")), first},
		} {
			b.Run(op.name+"/"+token.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequest(op.method, op.path, strings.NewReader(op.body))
					r.Header.Set("Authorization", "Bearer "+token.value)
					w := httptest.NewRecorder()
					token.service().ServeHTTP(w, r)
					if w.Code >= http.StatusBadRequest {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}
