package handlers

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

// A nullStore stores nothing and always lists the same plants, at no cost.
type nullStore struct {
	plants.Store // nil, so other calls panic
	list         []plants.Plant
}

func (*nullStore) Create(context.Context, string, plants.Plant) error { return nil }

func (s *nullStore) List(ctx context.Context, _ string, _ *int64, limit int) ([]plants.Plant, bool, error) {
	return s.list[:min(limit, len(s.list))], false, ctx.Err()
}

// BenchmarkService measures one request without network and store, with a cached
// token and with tokens whose signature must be verified.
func BenchmarkService(b *testing.B) {
	issuer := authtest.NewIssuer(b)
	store := &nullStore{list: slices.Repeat([]plants.Plant{plantstest.Example(7)}, 100)}
	log := logging.New(io.Discard, slog.LevelInfo)
	// A new verifier has cached nothing.
	first := func() *Service {
		return newService(b, store, issuer, log)
	}
	seen := first()

	for _, op := range []struct{ name, method, path, body string }{
		{"create", "POST", "/plants", validBody},
		{"list100", "GET", "/plants?limit=100", ""},
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
				for b.Loop() {
					r := httptest.NewRequest(op.method, op.path, strings.NewReader(op.body))
					r.Header.Set("Authorization", "Bearer "+token.value)
					w := httptest.NewRecorder()
					b.StopTimer()
					service := token.service()
					b.StartTimer()
					service.ServeHTTP(w, r)
					if w.Code >= http.StatusBadRequest {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}
