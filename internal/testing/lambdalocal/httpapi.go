package lambdalocal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// An HTTPAPI is an API Gateway HTTP API in front of the function that it calls, with
// events in payload format 2.0. It has one route and one stage, both named $default,
// no throttling and no CORS, and drops cookies from the function.
type HTTPAPI func(ctx context.Context, payload []byte) ([]byte, error)

// ServeHTTP implements [http.Handler].
func (invoke HTTPAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	w.Header().Set("Apigw-Requestid", id)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	payload, err := newEvent(r, body, id)
	if err != nil {
		reject(w, http.StatusBadRequest)
		return
	}
	// The function continues even if the client disconnects.
	response, err := invoke(context.WithoutCancel(r.Context()), payload)
	if err != nil {
		reject(w, http.StatusInternalServerError)
		return
	}
	send(w, response)
}

// reject sends API Gateway's own error response.
func reject(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q}`, http.StatusText(status))
}

// send sends the function's response, in payload format 2.0. An HTTP API also
// accepts responses without a status code or with a body in base64, but the
// service sends none.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html#http-api-develop-integrations-lambda.response
func send(w http.ResponseWriter, payload []byte) {
	var resp struct {
		StatusCode int               `json:"statusCode"`
		Headers    map[string]string `json:"headers"`
		Body       string            `json:"body"`
	}
	if err := json.Unmarshal(payload, &resp); err != nil || resp.StatusCode < 200 || resp.StatusCode > 599 {
		reject(w, http.StatusInternalServerError)
		return
	}
	for name, value := range resp.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(resp.StatusCode)
	io.WriteString(w, resp.Body) // net/http drops it where there must be none
}

// newRequestID returns a request id that looks like API Gateway's.
func newRequestID() string { return rand.Text()[:15] + "=" }

// sourceIP returns the client's address without the port.
func sourceIP(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // net/http always sets a port
	return host
}
