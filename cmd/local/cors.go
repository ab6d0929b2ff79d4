package main

import (
	"net/http"

	"github.com/rs/cors"

	"example.com/plantstore/internal/handlers"
)

// Headers that pages from other origins may send and read, in addition to the headers that
// browsers always allow. template.yaml lists them for API Gateway, together with API
// Gateway's own name for WWW-Authenticate.
var (
	corsRequestHeaders  = []string{"Authorization", "Content-Type"}
	corsResponseHeaders = []string{"Allow", "Link", "Retry-After", "WWW-Authenticate", "X-Request-Id"}
)

// allowOrigins adds CORS headers to the responses of next, so that pages from the origins
// can use it. next also responds to preflight requests, as the service does in a deployment
// when API Gateway passes them on.
func allowOrigins(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 { // the library would allow all
		return next
	}
	methods := []string{http.MethodHead} // served by the routes of GET
	for _, rt := range handlers.Routes() {
		methods = append(methods, rt.Method)
	}
	return cors.New(cors.Options{
		AllowedOrigins:     origins,
		AllowedMethods:     methods,
		AllowedHeaders:     corsRequestHeaders,
		ExposedHeaders:     corsResponseHeaders,
		MaxAge:             3600, // seconds that browsers may cache a preflight response
		OptionsPassthrough: true, // next responds to preflight requests too
	}).Handler(next)
}
