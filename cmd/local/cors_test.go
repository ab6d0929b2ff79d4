package main

import (
	"bytes"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/test/openapi"
)

// safelisted are the response headers that every page may read.
// See https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name.
// X-Content-Type-Options is for the browser itself.
var safelisted = []string{"Cache-Control", "Content-Length", "Content-Type", "X-Content-Type-Options"}

// Pages of the listed origins may send and read every header that the OpenAPI
// document has. Package browser has pages that do.
func TestCORSHeaders(t *testing.T) {
	d := openapi.Read()
	for _, op := range append(d.Operations, d.Other) {
		for _, p := range op.Parameters {
			if p.In == "header" && !slices.Contains(corsRequestHeaders, p.Name) {
				t.Errorf("add the request header %s of %s to corsRequestHeaders in cmd/local/cors.go", p.Name, op)
			}
		}
		for _, resp := range op.Responses {
			for name := range resp.Headers {
				if !slices.Contains(safelisted, name) && !slices.Contains(corsResponseHeaders, name) {
					t.Errorf("add the response header %s of %s to corsResponseHeaders in cmd/local/cors.go", name, op)
				}
			}
		}
	}
}

// A preflight request gets the response of the service, and CORS headers if its
// origin is listed. So does a token request. The log has the origins that are not
// listed, except that of the service itself.
func TestCORSOrigins(t *testing.T) {
	const listed, other = "http://localhost:3000", "http://localhost:3001"
	for _, test := range []struct {
		origins, method, path, origin string
		status                        int
		allowed                       string
		logged                        string // the refused origin
	}{
		{listed, "OPTIONS", "/plants/7", listed, 204, listed, ""},
		{listed, "OPTIONS", "/plants/7", other, 204, "", other},
		{listed, "OPTIONS", "/x", listed, 404, listed, ""},
		{listed, "GET", "/plants", listed, 401, listed, ""},
		{listed, "HEAD", "/plants", listed, 401, listed, ""},
		{listed, "GET", "/plants", "null", 401, "", "null"},
		{listed, "POST", "/oauth2/token", listed, 400, listed, ""},
		{listed, "POST", "/oauth2/token", other, 403, "", other},
		{"*", "GET", "/plants", other, 401, "*", ""},
		{"", "GET", "/plants", "http://\u202e", 401, "", "http://\u202e"},
		{"", "GET", "/plants", "http://" + strings.Repeat("x", 58), 401, "", "http://" + strings.Repeat("x", 57) + "…"},
		{"", "GET", "/plants", "http://example.com", 401, "", ""},
		{"", "GET", "/plants", "", 401, "", ""},
	} {
		var out bytes.Buffer
		cfg, log := config.Config{CORSOrigins: strings.Fields(test.origins)}, logging.New(&out, slog.LevelInfo)
		o := options{data: t.TempDir(), store: "bolt"}
		stores, err := openers[o.store](t.Context(), o, cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		defer stores.close()
		handler, err := newHandler(t.Context(), o, cfg, stores, log, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(test.method, "http://example.com"+test.path, nil)
		r.Header.Set("Origin", test.origin)
		r.Header.Set("Access-Control-Request-Method", "DELETE")
		if test.path == "/oauth2/token" {
			r.Host = "localhost"
		}
		w := httptest.NewRecorder()
		allowOrigins(cfg.CORSOrigins, log, handler).ServeHTTP(w, r)
		h := w.Header()
		if w.Code != test.status || h.Get("Access-Control-Allow-Origin") != test.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%+v: got %d %v", test, w.Code, h)
		}
		if readable := strings.Contains(h.Get("Access-Control-Expose-Headers"), "Link"); test.method != "OPTIONS" && readable != (test.allowed != "") {
			t.Errorf("%+v: pages can read %q", test, h.Get("Access-Control-Expose-Headers"))
		}
		if age := h.Get("Access-Control-Max-Age"); test.method == "OPTIONS" && (age == "3600") != (test.allowed != "") {
			t.Errorf("%+v: browsers keep the response for %q seconds, want an hour as in template.yaml", test, age)
		}
		if test.path == "/plants/7" && !strings.Contains(h.Get("Allow"), "DELETE") {
			t.Errorf("%+v: Allow is %q", test, h.Get("Allow"))
		}
		_, logged, _ := strings.Cut(out.String(), `"level":"WARN","msg":"origin refused","origin":"`)
		if logged, _, _ = strings.Cut(logged, `","cause":"not in CORS_ORIGINS"}`); logged != test.logged {
			t.Errorf("%+v: the log is\n%s", test, &out)
		}
	}
}
