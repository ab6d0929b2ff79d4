package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

// A service is the handler behind an HTTP server.
type service struct {
	*httptest.Server
	document *openapi.Document
	issuer   *authtest.Issuer
}

// A setup changes what a service depends on. The zero setup has empty stores.
type setup struct {
	fault   error // of all stores
	jwksURL string
	cutBody bool // requests end early
}

func newService(t *testing.T, d *openapi.Document, issuer *authtest.Issuer, with setup) *service {
	t.Helper()
	verifier := issuer.Verifier(t, auth.Config{KeysURL: with.jwksURL}, handlers.Scopes()...)
	handler := handlers.New(
		&plantstest.Memory{Err: with.fault},
		verifier, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if with.cutBody {
			r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &service{server, d, issuer}
}

// A sent is a request of alice.
type sent = openapi.Request

// doAsDocumented sends r and returns the response with its body. The service must accept
// it if the document allows it, refuse it if not, and respond as the document says: see
// [openapi.Document.Validate]. Otherwise the test ends here, since one mistake may show
// in hundreds of requests.
func (s *service) doAsDocumented(t *testing.T, r sent) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience) // a list may never end
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, s.URL+r.Target, strings.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(r.Header); i += 2 {
		req.Header.Add(r.Header[i], r.Header[i+1])
	}
	if _, given := req.Header["Authorization"]; !given {
		req.Header.Set("Authorization", "Bearer "+s.issuer.Token("alice", handlers.Scopes()...))
	}
	resp, body := harness.Send(t, req)
	if err := s.document.Validate(req, []byte(r.Body), resp, []byte(body)); err != nil {
		t.Fatalf("api/openapi.yaml: %v\n> %s %.99s %.99q\n> %.300q\n< %d %.300q", err, r.Method, r.Target, r.Header, r.Body, resp.StatusCode, body)
	}
	return resp, body
}
