package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/rs/cors"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
)

// origin matches * and web origins (RFC 6454), such as https://example.com:8443.
var origin = regexp.MustCompile(`^(\*|https?://[^\s,/*]+)$`)

// corsOrigins returns the origins in [config.CORSOrigins], separated by commas:
// those whose pages may use the service.
func corsOrigins(getenv func(string) string) (origins []string, err error) {
	for text := range strings.SplitSeq(getenv(config.CORSOrigins), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !origin.MatchString(text) {
			return nil, fmt.Errorf("%s: %q is not an origin: use a scheme, a host and possibly a port, such as http://localhost:3000, or *", config.CORSOrigins, text)
		}
		origins = append(origins, text)
	}
	return origins, nil
}

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
