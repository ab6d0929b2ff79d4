package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/rs/cors"

	"example.com/plantstore/internal/handlers"
)

// envCORSOrigins is the variable with the origins whose pages may use the service. In a
// deployment, the parameter CorsOrigins replaces it.
const envCORSOrigins = "CORS_ORIGINS"

// parseOrigins returns the elements of a list of origins, separated by commas or white space. The
// element * stands for all.
func parseOrigins(list string) ([]string, error) {
	origins := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	for _, origin := range origins {
		if origin != "*" && !isOrigin(origin) {
			return nil, fmt.Errorf("%s: %q is not an origin as browsers send it: use a scheme, a host in ASCII and, "+
				"if it isn't the default, a port, such as http://localhost:3000, or *", envCORSOrigins, origin)
		}
	}
	return origins, nil
}

// An origin in ASCII: instead of ü, browsers send xn--. They send no capitals, which are accepted.
var originPattern = regexp.MustCompile(`^(https?)://(?:[\w.-]+|\[[\da-fA-F:]+\])(?::([1-9]\d{0,4}))?$`)

// isOrigin reports whether browsers may send s as the origin of a page (RFC 6454).
func isOrigin(s string) bool {
	match := originPattern.FindStringSubmatch(s)
	if match == nil {
		return false
	}
	scheme, port := match[1], match[2]
	if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil { // over 65535
		return false
	}
	return port != map[string]string{"http": "80", "https": "443"}[scheme]
}

// Headers that pages from other origins may send and read, in addition to the headers that
// browsers always allow. template.yaml lists them for API Gateway, together with API
// Gateway's own name for WWW-Authenticate.
var (
	corsRequestHeaders  = []string{"Authorization", "Content-Type"}
	corsResponseHeaders = []string{"Allow", "Link", "Retry-After", "WWW-Authenticate", "X-Request-Id"}
)

// allowOrigins adds CORS headers to the responses of next, so that pages from the origins can use it.
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
		OptionsPassthrough: true, // to next, whose 404 and Allow they get as in a deployment
	}).Handler(next)
}
