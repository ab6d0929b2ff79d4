package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/test/tools"
)

const tokenPath = "/oauth2/token"

// newServer serves the docs in front of a service that responds with 418 to every
// request.
func newServer(t *testing.T, tokenPath string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(Handler(tokenPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	t.Cleanup(s.Close)
	return s
}

func do(t *testing.T, s *httptest.Server, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return tools.Send(t, req)
}

func TestFiles(t *testing.T) {
	s, etags := newServer(t, tokenPath), map[string]bool{}
	for _, test := range []struct{ path, contentType, has string }{
		{"/", "text/html; charset=utf-8", "<title>Plant Store</title>"},
		{"/openapi.yaml", "application/yaml", string(api.Document)},
		{"/docs/page.css", "text/css; charset=utf-8", "#token"},
		{"/docs/page.js", "text/javascript; charset=utf-8", "SwaggerUIBundle("},
		{"/docs/swagger-ui.css", "text/css; charset=utf-8", ".swagger-ui"},
		{"/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8", "SwaggerUIBundle="},
		{"/docs/favicon-32x32.png", "image/png", "\x89PNG\r\n"},
	} {
		t.Run(test.path, func(t *testing.T) {
			resp, body := do(t, s, "GET", test.path)
			if resp.StatusCode != http.StatusOK || !strings.Contains(body, test.has) {
				t.Fatalf("%s with %d bytes, want 200 with %.40q in it", resp.Status, len(body), test.has)
			}
			for name, want := range map[string]string{
				"Content-Type":            test.contentType,
				"Content-Security-Policy": policy,
				"X-Content-Type-Options":  "nosniff",
				"Referrer-Policy":         "no-referrer",
				"Cache-Control":           "no-cache",
			} {
				if got := resp.Header.Values(name); len(got) != 1 || got[0] != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			head, none := do(t, s, "HEAD", test.path)
			if head.StatusCode != http.StatusOK || len(none) > 0 || head.ContentLength != int64(len(body)) ||
				head.Header.Get("Content-Type") != test.contentType {
				t.Errorf("HEAD: %s with %d bytes and headers %v", head.Status, len(none), head.Header)
			}
			etag := resp.Header.Get("ETag")
			if etags[etag] {
				t.Errorf("the ETag %s is that of another file", etag)
			}
			etags[etag] = true
			if again, _ := do(t, s, "GET", test.path, "If-None-Match", etag); again.StatusCode != http.StatusNotModified || etag == "" {
				t.Errorf("with ETag %s: %s, want 304", etag, again.Status)
			}
		})
	}
}

// Every other request reaches the service.
func TestOtherRequests(t *testing.T) {
	s := newServer(t, tokenPath)
	for _, request := range []string{
		"POST /", "OPTIONS /", "DELETE /", "PUT /openapi.yaml", "POST /docs/page.js",
		"GET /docs", "GET /docs/", "GET /docs/page.html", "GET /docs/swagger-ui.js", "GET /docs/../docs/page.js", "GET /docs//page.js",
		"GET /index.html", "GET /openapi.yaml/", "GET /openapi.json", "GET /favicon.ico", "GET //",
		"GET /plants", "HEAD /plants", "POST /plants", "DELETE /plants/1",
	} {
		method, path, _ := strings.Cut(request, " ")
		if resp, _ := do(t, s, method, path); resp.StatusCode != http.StatusTeapot {
			t.Errorf("%s: %s, want the service's response", request, resp.Status)
		}
	}
}

// With an external issuer the page asks the user to paste a token.
func TestToken(t *testing.T) {
	for _, test := range []struct{ tokenPath, has, hasNot string }{
		{tokenPath, `action="/oauth2/token"`, "paste"},
		{"", "paste", "<form"},
	} {
		_, page := do(t, newServer(t, test.tokenPath), "GET", "/")
		if !strings.Contains(page, test.has) || strings.Contains(page, test.hasNot) {
			t.Errorf("with the token path %q: want %q and not %q in the page:\n%s", test.tokenPath, test.has, test.hasNot, page)
		}
	}
}
