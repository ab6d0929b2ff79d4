package main

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/rs/cors"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/logging"
)

// Headers that pages of other origins may send and read, beyond those that
// browsers always allow. template.yaml has them for API Gateway, and also the name that
// API Gateway gives to WWW-Authenticate.
var (
	corsRequestHeaders  = []string{"Authorization", "Content-Type"}
	corsResponseHeaders = []string{"Allow", "Link", "Retry-After", "WWW-Authenticate", "X-Request-Id"}
)

// allowOrigins lets pages of the origins use next: it adds CORS headers to the responses
// of next. Those include the responses to preflight requests, as in a deployment whenever
// API Gateway passes them on. It logs the origins that are not listed, since a browser
// doesn't say why it refuses.
func allowOrigins(origins []string, log *slog.Logger, next http.Handler) http.Handler {
	allowed := func(*http.Request) bool { return false }
	if len(origins) > 0 {
		methods := []string{http.MethodHead} // served like GET, without a route of its own
		for _, rt := range handlers.Routes() {
			methods = append(methods, rt.Method)
		}
		c := cors.New(cors.Options{
			AllowedOrigins:     origins,
			AllowedMethods:     methods,
			AllowedHeaders:     corsRequestHeaders,
			ExposedHeaders:     corsResponseHeaders,
			MaxAge:             3600, // seconds that browsers keep the response to a preflight request
			OptionsPassthrough: true, // of preflight requests
		})
		next, allowed = c.Handler(next), c.OriginAllowed
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		// Pages of this server send an Origin too, for example with a POST. A proxy in front
		// may have another scheme.
		sameOrigin := strings.HasSuffix(origin, "://"+r.Host)
		if origin != "" && !sameOrigin && !allowed(r) {
			log.Warn("origin refused", "origin", logging.Truncate(origin), "cause", "not in "+config.CORSOrigins)
		}
		next.ServeHTTP(w, r)
	})
}
