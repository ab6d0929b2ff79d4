package lambdalocal

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The status is the function's, and the CORS headers are the API's.
func TestCORS(t *testing.T) {
	const listed = "https://a.example"
	api := &HTTPAPI{
		Invoke: func(context.Context, []byte) ([]byte, error) {
			return []byte(`{"statusCode":405,"headers":{"Allow":"GET","Access-Control-Allow-Origin":"https://evil.example"}}`), nil
		},
		CORS: &CORS{AllowOrigins: []string{listed}, AllowMethods: []string{"GET", "POST"}, ExposeHeaders: []string{"Link"}},
	}
	for _, test := range []struct{ method, origin, requestMethod, allowed, methods, exposed string }{
		{"OPTIONS", listed, "GET", listed, "GET,POST", "Link"},
		{"OPTIONS", listed, "", "", "", ""},
		{"OPTIONS", "https://b.example", "GET", "", "", ""},
		{"GET", listed, "", listed, "", "Link"},
		{"GET", "https://evil.example", "", "", "", ""},
		{"GET", "", "", "", "", ""},
	} {
		r := httptest.NewRequest(test.method, "/plants", nil)
		for name, value := range map[string]string{"Origin": test.origin, "Access-Control-Request-Method": test.requestMethod} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != http.StatusMethodNotAllowed || h.Get("Allow") != "GET" || h.Get("Access-Control-Allow-Origin") != test.allowed ||
			h.Get("Access-Control-Allow-Methods") != test.methods || h.Get("Access-Control-Expose-Headers") != test.exposed {
			t.Errorf("%+v: %d %v", test, w.Code, h)
		}
	}
}
