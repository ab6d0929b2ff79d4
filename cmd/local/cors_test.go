package main

import (
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/testing/openapi"
)

// safelisted are the response headers that every page may read.
// See https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name.
// X-Content-Type-Options is for the browser itself.
var safelisted = []string{"Cache-Control", "Content-Length", "Content-Type", "X-Content-Type-Options"}

// Pages from the listed origins may send and read every header that the OpenAPI
// document describes.
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

// A preflight request gets the service's response, with CORS headers if its origin is
// listed. The token issuer sends no CORS headers.
func TestCORSOrigins(t *testing.T) {
	const listed, other = "http://localhost:3000", "http://localhost:3001"
	for _, test := range []struct {
		origins, method, path, origin string
		status                        int
		allowed                       string
	}{
		{listed, "OPTIONS", "/plants/7", listed, 204, listed},
		{listed, "OPTIONS", "/plants/7", other, 204, ""},
		{listed, "OPTIONS", "/x", listed, 404, listed},
		{listed, "GET", "/plants", listed, 401, listed},
		{listed, "HEAD", "/plants", listed, 401, listed},
		{listed, "GET", "/plants", "null", 401, ""},
		{listed, "POST", "/oauth2/token", listed, 403, ""},
		{"*", "GET", "/plants", other, 401, "*"},
		{"*", "POST", "/oauth2/token", other, 403, ""},
		{"", "GET", "/plants", other, 401, ""},
		{"", "GET", "/plants", "", 401, ""},
	} {
		cfg := config.Config{CORSOrigins: strings.Fields(test.origins)}
		handler := setUp(t, options{data: t.TempDir()}, cfg, io.Discard)
		r := httptest.NewRequest(test.method, "http://localhost"+test.path, nil)
		r.Header.Set("Origin", test.origin)
		r.Header.Set("Access-Control-Request-Method", "DELETE")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != test.status || h.Get("Access-Control-Allow-Origin") != test.allowed ||
			h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%+v: got %d %v", test, w.Code, h)
		}
		readable := strings.Contains(h.Get("Access-Control-Expose-Headers"), "Link")
		if test.method != "OPTIONS" && readable != (test.allowed != "") {
			t.Errorf("%+v: pages can read %q", test, h.Get("Access-Control-Expose-Headers"))
		}
		if age := h.Get("Access-Control-Max-Age"); test.method == "OPTIONS" && (age == "3600") != (test.allowed != "") {
			t.Errorf("%+v: browsers keep the response for %q seconds, want an hour as in template.yaml", test, age)
		}
		if test.path == "/plants/7" && !strings.Contains(h.Get("Allow"), "DELETE") {
			t.Errorf("%+v: Allow is %q", test, h.Get("Allow"))
		}
	}
}
