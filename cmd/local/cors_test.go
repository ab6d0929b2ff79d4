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
					t.Errorf("add the response header %s of %s to corsResponseHeaders in cmd/local/cors.go or, if it is for "+
						"the browser itself, to safelisted", name, op)
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
		handler := setUp(t, options{data: t.TempDir()}, config.Config{}, io.Discard, strings.Fields(test.origins)...)
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

// Origins that no browser sends stop the program.
func TestParseOrigins(t *testing.T) {
	want := []string{"http://localhost:3000", "https://A.example:80", "http://[::1]:443", "https://127.0.0.1", "*"}
	got, err := parseOrigins(" " + strings.Join(want, ",\t\n, ") + "\n")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, list := range []string{
		"localhost:3000", "http://a.example, https://b.example/", "https://*.example", "http://", "null",
		"https://a.example b.example", "https://user:secret@a.example", "https://@a.example",
		"https://a.example?key=secret", "https://a.example?", "https://a.example#secret", "https://a.example#",
		"https://:443", `https://a.example\b`, "https://a%2eexample", "https://::1", "https://[a.example]",
		"https://[127.0.0.1]", "ftp://a.example", "https://a.example:443", "http://[::1]:80", "https://a.example:",
		"https://a.example:0", "https://a.example:65536", "https://a.example:08443", "https://bücher.example",
	} {
		if got, err := parseOrigins(list); err == nil || !strings.Contains(err.Error(), envCORSOrigins) {
			t.Errorf("%q: got %q, %v", list, got, err)
		}
	}
}
