package lambdalocal

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A CORS is the CorsConfiguration of an HTTP API.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html
type CORS struct {
	AllowOrigins  []string `yaml:"-"` // or "*"
	AllowMethods  []string `yaml:"AllowMethods"`
	AllowHeaders  []string `yaml:"AllowHeaders"`
	ExposeHeaders []string `yaml:"ExposeHeaders"`
	MaxAge        int      `yaml:"MaxAge"` // seconds
}

// setHeaders replaces the CORS headers of the function's response h to r by those
// of the API. The route $default also gets preflight requests, so the function
// determines their status.
func (c *CORS) setHeaders(h http.Header, r *http.Request) {
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			h.Del(name)
		}
	}
	origin, method := r.Header.Get("Origin"), r.Header.Get("Access-Control-Request-Method")
	switch {
	case origin == "" || r.Method == http.MethodOptions && method == "":
		return
	case slices.Contains(c.AllowOrigins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(c.AllowOrigins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
	default:
		return
	}
	h.Set("Access-Control-Expose-Headers", strings.Join(c.ExposeHeaders, ","))
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", strings.Join(c.AllowMethods, ","))
		h.Set("Access-Control-Allow-Headers", strings.Join(c.AllowHeaders, ","))
		h.Set("Access-Control-Max-Age", strconv.Itoa(c.MaxAge))
	}
}
