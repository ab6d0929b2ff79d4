package main

import (
	"net/http"

	"github.com/rs/cors"

	"example.com/plantstore/internal/handlers"
)

// corsMaxAge is how long browsers may keep the answer to a preflight request, in
// seconds.
const corsMaxAge = 3600

// Headers that pages of other origins may send and read, beyond those that
// browsers always allow. template.yaml has the same ones for API Gateway.
var (
	corsRequestHeaders  = []string{"Authorization", "Content-Type", "Idempotency-Key"}
	corsResponseHeaders = []string{"Allow", "Link", "Retry-After", "WWW-Authenticate", "X-Request-Id"}
)

// allowOrigins lets pages of the origins use next, as API Gateway does in a
// deployment: next answers preflight requests too, and gets CORS headers added.
func allowOrigins(origins []string, next http.Handler) http.Handler {
	if origins == nil {
		return next
	}
	methods := []string{http.MethodHead}
	for _, rt := range handlers.Routes() {
		methods = append(methods, rt.Method)
	}
	return cors.New(cors.Options{
		AllowedOrigins:     origins,
		AllowedMethods:     methods,
		AllowedHeaders:     corsRequestHeaders,
		ExposedHeaders:     corsResponseHeaders,
		MaxAge:             corsMaxAge,
		OptionsPassthrough: true,
	}).Handler(next)
}
