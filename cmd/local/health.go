package main

import (
	"io"
	"net/http"
)

// withHealth responds to GET and HEAD requests for /healthz, which show only that the
// program is running. It passes all other requests to next. The path is for operators, so
// api/openapi.yaml doesn't describe it.
func withHealth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/healthz" || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, "ok\n") // fails only if the client has disconnected
	})
}
