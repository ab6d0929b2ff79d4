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

// BenchmarkService measures one request without network and store.
func BenchmarkService(b *testing.B) {
	issuer := authtest.NewIssuer(b)
	store := &nullStore{list: slices.Repeat([]plants.Plant{plantstest.Example(7)}, 100)}
	log := logging.New(io.Discard, slog.LevelInfo)
	service := newService(b, store, issuer, log)

	for _, op := range []struct{ name, method, path, body string }{
		{"create", "POST", "/plants", validBody},
		{"list100", "GET", "/plants?limit=100", ""},
	} {
		for _, token := range []struct{ name, value string }{
			{"ES256", issuer.Token("alice")},
			{"RS256", issuer.SignRS256(authtest.Claims("alice"))},
		} {
			b.Run(op.name+"/"+token.name, func(b *testing.B) {
				for b.Loop() {
					r := httptest.NewRequest(op.method, op.path, strings.NewReader(op.body))
					r.Header.Set("Authorization", "Bearer "+token.value)
					w := httptest.NewRecorder()
					service.ServeHTTP(w, r)
					if w.Code >= http.StatusBadRequest {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}
