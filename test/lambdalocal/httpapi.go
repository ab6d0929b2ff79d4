package lambdalocal

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// An HTTPAPI is an API Gateway HTTP API in front of a function. It turns requests
// into events in payload format 2.0, and the function's responses into HTTP
// responses. It has one route and one stage, both named $default, and no
// throttling.
//
// Undocumented behaviour follows published captures from real APIs (see
// newEvent). Where nothing is known, the request is passed on unchanged.
type HTTPAPI struct {
	Invoke func(ctx context.Context, payload []byte) ([]byte, error) // the function
	CORS   *CORS                                                     // nil for none
}

// ServeHTTP implements [http.Handler].
func (a *HTTPAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	w.Header().Set("Apigw-Requestid", id)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if err != nil {
		reject(w, http.StatusRequestEntityTooLarge)
		return
	}
	payload, err := newEvent(r, body, id)
	if err != nil {
		reject(w, http.StatusBadRequest)
		return
	}
	if len(payload) > maxPayload {
		reject(w, http.StatusRequestEntityTooLarge)
		return
	}
	// The function goes on even if the client disconnects.
	response, err := a.Invoke(context.WithoutCancel(r.Context()), payload)
	if err != nil {
		reject(w, http.StatusInternalServerError)
		return
	}
	a.send(w, r, response)
}

// reject sends API Gateway's own error response.
func reject(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q}`, http.StatusText(status))
}

// send sends the function's response, in payload format 2.0. An HTTP API accepts
// a response without a status code too, but the service doesn't use that: here
// the client gets 500.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html#http-api-develop-integrations-lambda.response
func (a *HTTPAPI) send(w http.ResponseWriter, r *http.Request, payload []byte) {
	var resp struct {
		StatusCode      int               `json:"statusCode"`
		Headers         map[string]string `json:"headers"`
		Cookies         []string          `json:"cookies"`
		Body            string            `json:"body"`
		IsBase64Encoded bool              `json:"isBase64Encoded"`
	}
	err := json.Unmarshal(payload, &resp)
	body := []byte(resp.Body)
	if err == nil && resp.IsBase64Encoded {
		body, err = base64.StdEncoding.DecodeString(resp.Body)
	}
	if err != nil || resp.StatusCode < 200 || resp.StatusCode > 599 {
		reject(w, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	for name, value := range resp.Headers {
		h.Set(name, value)
	}
	for _, cookie := range resp.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	noBody := resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	// AWS's own emulator adds this type, and AWS tests it against the real API:
	// github.com/aws/aws-lambda-dotnet, Tools/LambdaTestTool-v2. It does so even
	// without a body; that would fail checks here that the function can't meet.
	if h.Get("Content-Type") == "" && !noBody {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	if a.CORS != nil {
		a.CORS.setHeaders(h, r)
	}
	w.WriteHeader(resp.StatusCode)
	if r.Method != http.MethodHead && !noBody {
		w.Write(body)
	}
}

// newRequestID returns a request id that looks like API Gateway's.
func newRequestID() string { return rand.Text()[:15] + "=" }

// sourceIP returns the client's address without the port.
func sourceIP(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // net/http always sets a port
	return host
}

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
