package swaggerui

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/testing/harness"
)

// newServer serves the page in front of a service that returns 418.
func newServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(Handler(false, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	t.Cleanup(s.Close)
	return s.URL
}

func send(t *testing.T, method, url string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Send(t, req)
}

func TestFiles(t *testing.T) {
	base := newServer(t)
	_, rest, _ := bytes.Cut(api.Document, []byte("\n  - url: "))
	bodies := map[string]string{} // by ETag
	for _, test := range []struct{ path, contentType, has string }{
		{"/", "text/html; charset=utf-8", "docs/page.js"},
		{"/docs", "text/html; charset=utf-8", "docs/page.js"},
		{"/openapi.yaml", "application/yaml",
			"\n  - url: .\n    description: The server of this document\n  - url: " + string(rest)},
		{"/docs/page.js", "text/javascript; charset=utf-8", "SwaggerUIBundle("},
		{"/docs/issuer.js", "text/javascript; charset=utf-8", "export default null"},
		{"/docs/swagger-ui.css", "text/css; charset=utf-8", ".swagger-ui"},
		{"/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8", "SwaggerUIBundle="},
		{"/favicon.ico", "image/png", "\x89PNG\r\n"},
	} {
		resp, body := send(t, "GET", base+test.path)
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, test.has) {
			t.Errorf("%s: %s with %d bytes, want 200 with %.40q in it", test.path, resp.Status, len(body), test.has)
		}
		etag := resp.Header.Get("ETag")
		if other, ok := bodies[etag]; etag == "" || ok && other != body {
			t.Errorf("%s: the ETag %q is missing, or belongs to another body", test.path, etag)
		}
		bodies[etag] = body
		for name, want := range map[string]string{
			"Content-Type": test.contentType,
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
				"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
			"Cache-Control":          "no-cache",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: header %s is %q, want %q", test.path, name, got, want)
			}
		}
	}
}

// A request for the folder of Swagger UI is redirected. All others reach the service: at
// /openapi.json, a tool that reads only JSON must not get YAML.
func TestOtherRequests(t *testing.T) {
	base := newServer(t)
	for request, location := range map[string]string{
		"GET /docs/": "../docs", "HEAD /docs/": "../docs", "GET /openapi.json": "", "GET /docs/interface.md": "",
		"POST /": "", "OPTIONS /": "", "POST /docs": "", "POST /docs/": "", "GET /docs/page.html": "",
		"GET /docs%2fpage.js": "", "GET /docs/../docs/page.js": "", "GET //": "", "HEAD /plants": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		want := http.StatusTeapot
		if location != "" {
			want = http.StatusFound
		}
		if resp, _ := send(t, method, base+path); resp.StatusCode != want || resp.Header.Get("Location") != location {
			t.Errorf("%s: %s to %q, want %d to %q", request, resp.Status, resp.Header.Get("Location"), want, location)
		}
	}
}
