package page

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/test/harness"
)

// newServer serves the page in front of a service that returns 418.
func newServer(t *testing.T, ownIssuer bool) string {
	t.Helper()
	s := httptest.NewServer(Handler(ownIssuer, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	t.Cleanup(s.Close)
	return s.URL
}

func send(t *testing.T, method, url, etag string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", etag)
	return harness.Send(t, req)
}

func TestFiles(t *testing.T) {
	base := newServer(t, false)
	for _, test := range []struct{ path, contentType, has string }{
		{"/", "text/html; charset=utf-8", "/docs/page.js"},
		{"/docs", "text/html; charset=utf-8", "/docs/page.js"},
		{"/openapi.yaml", "application/yaml", string(api.Document)},
		{"/docs/interface.md", "text/plain; charset=utf-8", "## Errors"},
		{"/docs/page.js", "text/javascript; charset=utf-8", "SwaggerUIBundle("},
		{"/docs/swagger-ui.css", "text/css; charset=utf-8", ".swagger-ui"},
		{"/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8", "SwaggerUIBundle="},
		{"/favicon.ico", "image/png", "\x89PNG\r\n"},
	} {
		resp, body := send(t, "GET", base+test.path, "")
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, test.has) {
			t.Errorf("%s: %s with %d bytes, want 200 with %.40q in it", test.path, resp.Status, len(body), test.has)
		}
		for name, want := range map[string]string{
			"Content-Type":            test.contentType,
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"Cache-Control":           "no-cache",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: header %s is %q, want %q", test.path, name, got, want)
			}
		}
		if head, _ := send(t, "HEAD", base+test.path, ""); head.StatusCode != http.StatusOK || head.Header.Get("ETag") != resp.Header.Get("ETag") {
			t.Errorf("HEAD %s: %s with header %v, want those of GET", test.path, head.Status, head.Header)
		}
		etag := resp.Header.Get("ETag")
		if again, _ := send(t, "GET", base+test.path, etag); again.StatusCode != http.StatusNotModified || etag == "" {
			t.Errorf("%s: %s with the ETag %q, want 304", test.path, again.Status, etag)
		}
	}
}

// With the program's own issuer, the security scheme in the document lets Swagger UI get
// tokens from that issuer. Nothing else differs.
func TestOwnIssuer(t *testing.T) {
	parse := func(text string) (document, scheme map[string]any) {
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		schemes := document["components"].(map[string]any)["securitySchemes"].(map[string]any)
		scheme = schemes["bearer"].(map[string]any)
		delete(schemes, "bearer")
		delete(scheme, "description")
		return document, scheme
	}
	_, body := send(t, "GET", newServer(t, true)+"/openapi.yaml", "")
	document, scheme := parse(body)
	if other, bearer := parse(string(api.Document)); !reflect.DeepEqual(document, other) || bearer["scheme"] != "bearer" {
		t.Error("the document differs in more than the scheme bearer")
	}
	scopes := map[string]any{}
	for _, scope := range handlers.Scopes() {
		scopes[scope] = "" // a description
	}
	flow, _ := scheme["flows"].(map[string]any)["clientCredentials"].(map[string]any)
	for scope := range flow["scopes"].(map[string]any) {
		flow["scopes"].(map[string]any)[scope] = ""
	}
	want := map[string]any{"type": "oauth2", "flows": map[string]any{"clientCredentials": map[string]any{"tokenUrl": issuer.TokenPath, "scopes": scopes}}}
	if !reflect.DeepEqual(scheme, want) {
		t.Errorf("the scheme is %v, want %v", scheme, want)
	}
}

// Requests for the usual places of the document and Swagger UI are redirected. All other
// requests reach the service.
func TestOtherRequests(t *testing.T) {
	base := newServer(t, false)
	for request, location := range map[string]string{
		"GET /docs/": "/docs", "HEAD /docs/": "/docs", "GET /openapi.json": "/openapi.yaml",
		"POST /": "", "OPTIONS /": "", "POST /docs": "", "GET /docs/page.html": "", "GET /docs%2fpage.js": "", "GET /docs/../docs/page.js": "",
		"GET //": "", "HEAD /plants": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		want := http.StatusTeapot
		if location != "" {
			want = http.StatusFound
		}
		if resp, _ := send(t, method, base+path, ""); resp.StatusCode != want || resp.Header.Get("Location") != location {
			t.Errorf("%s: %s to %q, want %d to %q", request, resp.Status, resp.Header.Get("Location"), want, location)
		}
	}
}
