package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/openapi"
	"example.com/plantstore/test/tools"
)

// safelisted are the response headers that every page may read.
// See https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name.
var safelisted = []string{"Cache-Control", "Content-Length", "Content-Type"}

// Pages of the listed origins may send and read every header that the OpenAPI
// document has. Package browser has pages that do.
func TestCORSHeaders(t *testing.T) {
	d, err := openapi.Parse(api.Document)
	if err != nil {
		t.Fatal(err)
	}
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

// A preflight request has the answer of the service, and CORS headers if its
// origin is listed. So does the token issuer's answer.
func TestCORSOrigins(t *testing.T) {
	const listed = "http://localhost:3000"
	base := startWith(t, func(name string) string { return map[string]string{config.CORSOrigins: listed}[name] })
	for _, test := range []struct {
		method, path, origin string
		status               int
		allowed              string
	}{
		{"OPTIONS", "/plants/7", listed, 204, listed},
		{"OPTIONS", "/plants/7", "http://localhost:3001", 204, ""},
		{"OPTIONS", "/x", listed, 404, listed},
		{"GET", "/plants", listed, 401, listed},
		{"GET", "/plants", "null", 401, ""},
		{"POST", "/oauth2/token", listed, 400, listed},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, base+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", test.origin)
		r.Header.Set("Access-Control-Request-Method", "DELETE")
		resp, _ := tools.Send(t, r)
		h := resp.Header
		if resp.StatusCode != test.status || h.Get("Access-Control-Allow-Origin") != test.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s %s from %s: %s %v, want status %d for origin %q", test.method, test.path, test.origin, resp.Status, h, test.status, test.allowed)
		}
		if test.path == "/plants/7" && !strings.Contains(h.Get("Allow"), "DELETE") {
			t.Errorf("OPTIONS %s from %s: Allow is %q", test.path, test.origin, h.Get("Allow"))
		}
	}
}
