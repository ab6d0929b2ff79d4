package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/openapi"
)

// A service is the real one behind a real server, whose every exchange is held
// to the document.
type service struct {
	*httptest.Server
	document *openapi.Document
	issuer   *authtest.Issuer
}

// A fault makes a service fail in a way that it won't on demand.
type fault struct {
	store     error          // of every call of the store
	keys      auth.KeySource // of the issuer
	breakBody bool           // each request ends early
}

// broken is a store that fails.
type broken struct{ err error }

func (s broken) Create(context.Context, string, plants.Plant, plants.WriteToken) error { return s.err }
func (s broken) Delete(context.Context, string, int64) error                           { return s.err }
func (s broken) List(context.Context, string, plants.Query) (plants.Page, error) {
	return plants.Page{}, s.err
}

func newService(t *testing.T, f fault) *service {
	t.Helper()
	var store plants.Store = broken{f.store}
	if f.store == nil {
		embedded, err := bolt.Open(filepath.Join(t.TempDir(), "plants.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { embedded.Close() })
		store = embedded
	}
	issuer := authtest.NewIssuer(t)
	handler := handlers.New(store, issuer.VerifierOf(t, auth.Config{Keys: f.keys}), slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.breakBody {
			r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &service{server, parse(t), issuer}
}

// A sent is a request to send, by alice unless its header says otherwise.
type sent struct {
	method, target, body string
	header               []string // names and values; a second value of a name is added, none removes it
}

// An answer is what came back, and what the document says of the exchange.
type answer struct {
	*http.Response
	body string
	err  error
}

func (s *service) do(t *testing.T, r sent) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.method, s.URL+r.target, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.issuer.Token("alice"))
	for i := 0; i < len(r.header); i += 2 {
		if r.header[i] == "Authorization" {
			req.Header.Del(r.header[i])
		}
		if r.header[i+1] != "" || r.header[i] != "Authorization" {
			req.Header.Add(r.header[i], r.header[i+1])
		}
	}
	// Unlike http.Client, it follows no redirects.
	resp, err := s.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	err = s.document.Validate(req, []byte(r.body), resp, body)
	if errors.Is(err, openapi.ErrAnswer) || errors.Is(err, openapi.ErrAccepted) || errors.Is(err, openapi.ErrRefused) || err == nil {
		return answer{resp, string(body), err}
	}
	t.Fatalf("%s %s: %v is of no kind", r.method, r.target, err)
	return answer{}
}
