package api_test

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/openapi"
	"example.com/plantstore/test/tools"
)

func parse(t *testing.T) *openapi.Document {
	t.Helper()
	d, err := openapi.Parse(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A service is the handler behind an HTTP server.
type service struct {
	*httptest.Server
	document *openapi.Document
	issuer   *authtest.Issuer
}

// A setup changes what a service depends on. The zero setup has an empty
// embedded store.
type setup struct {
	store   plants.Store
	jwksURL string
	cutBody bool // requests end early
}

func newService(t *testing.T, d *openapi.Document, issuer *authtest.Issuer, with setup) *service {
	t.Helper()
	if with.store == nil {
		store, err := bolt.Open(filepath.Join(t.TempDir(), "plants.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		with.store = store
	}
	verifier := issuer.Verifier(t, config.Tokens{JWKSURL: with.jwksURL})
	handler := handlers.New(handlers.Stores{Plants: with.store}, verifier, slog.New(slog.DiscardHandler))
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
type sent struct {
	method, target, body string
	header               []string // names and values
}

// request returns a valid request of op, made from the document's examples. If
// op has the parameter name, that has the given values.
func request(op *openapi.Operation, name string, values ...string) sent {
	r := sent{method: op.Method, target: op.Path}
	query := url.Values{}
	for _, p := range op.Parameters {
		var given []string
		switch {
		case p.Name == name:
			given = values
		case p.Required:
			given = []string{fmt.Sprint(p.Example)}
		}
		for _, value := range given {
			switch p.In {
			case "path":
				r.target = strings.ReplaceAll(r.target, "{"+p.Name+"}", url.PathEscape(value))
			case "query":
				query.Add(p.Name, value)
			case "header":
				r.header = append(r.header, p.Name, value)
			}
		}
	}
	if len(query) > 0 {
		r.target += "?" + query.Encode()
	}
	if op.RequestBody != nil {
		examples := op.RequestBody.Content.Examples()
		r.body = string(examples[slices.Min(slices.Collect(maps.Keys(examples)))])
	}
	return r
}

// do sends r and returns the response with its body. It checks the exchange
// against the document.
func (s *service) do(t *testing.T, r sent) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.method, s.URL+r.target, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(r.header); i += 2 {
		req.Header.Add(r.header[i], r.header[i+1])
	}
	if _, given := req.Header["Authorization"]; !given {
		req.Header.Set("Authorization", "Bearer "+s.issuer.Token("alice"))
	}
	resp, body := tools.Send(t, req)
	if err := s.document.Validate(req, []byte(r.body), resp, []byte(body)); err != nil {
		t.Errorf("api/openapi.yaml: %v\n> %s %.99s %.99q\n> %.99q\n< %d %.300q", err, r.method, r.target, r.header, r.body, resp.StatusCode, body)
	}
	return resp, body
}
