package main

import (
	"net/http"

	"github.com/rs/cors"

	"example.com/plantstore/internal/handlers"
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
// API Gateway passes them on.
func allowOrigins(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 { // which the library takes for all
		return next
	}
	methods := []string{http.MethodHead} // served like GET, without a route of its own
	for _, rt := range handlers.Routes() {
		methods = append(methods, rt.Method)
	}
	return cors.New(cors.Options{
		AllowedOrigins:     origins,
		AllowedMethods:     methods,
		AllowedHeaders:     corsRequestHeaders,
		ExposedHeaders:     corsResponseHeaders,
		MaxAge:             3600, // seconds that browsers keep the response to a preflight request
		OptionsPassthrough: true, // of preflight requests
	}).Handler(next)
}
