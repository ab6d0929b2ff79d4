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
	"strings"
	"time"
)

// HTTPAPI is an API Gateway HTTP API in front of a function: it turns requests
// into events in payload format 2.0, and responses of the function into
// answers. Its one route is $default, as is its stage.
//
// What isn't documented comes from requests that others have sent to real ones
// and published, see event.go; where nothing is known, a request is passed on
// as it is. What an HTTP API does by itself for CORS and throttling, it doesn't.
type HTTPAPI struct {
	Function interface {
		Invoke(ctx context.Context, payload []byte) ([]byte, error)
	}
}

// maxBody is what an HTTP API takes of a request.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
const maxBody = 10 << 20

// maxEvent is what Lambda takes as an event.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxEvent = 6 << 20

// integrationTimeout is the longest that an HTTP API waits for a function.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
const integrationTimeout = 30 * time.Second

// ServeHTTP implements [http.Handler].
func (a *HTTPAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	w.Header().Set("Apigw-Requestid", id)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge)
		return
	}
	e, err := newEvent(r, body, id)
	if err != nil {
		refuse(w, http.StatusBadRequest)
		return
	}
	payload, err := json.Marshal(e)
	if err != nil || len(payload) > maxEvent {
		refuse(w, http.StatusRequestEntityTooLarge)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), integrationTimeout)
	defer cancel()
	response, err := a.Function.Invoke(ctx, payload)
	switch {
	case ctx.Err() != nil:
		refuse(w, http.StatusServiceUnavailable)
	case err != nil:
		refuse(w, http.StatusInternalServerError)
	default:
		send(w, r, response)
	}
}

// refuse answers in place of the function, in the one form that an HTTP API has.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q}`, http.StatusText(status))
}

// A response is what a function returns, in payload format 2.0.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html#http-api-develop-integrations-lambda.response
type response struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Cookies         []string          `json:"cookies"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

// send answers with the function's response. One without a status code, from
// which an HTTP API would make up an answer, is refused here: no HTTP handler
// means that.
func send(w http.ResponseWriter, r *http.Request, payload []byte) {
	var resp response
	err := json.Unmarshal(payload, &resp)
	body := []byte(resp.Body)
	if err == nil && resp.IsBase64Encoded {
		body, err = base64.StdEncoding.DecodeString(resp.Body)
	}
	if err != nil || resp.StatusCode < 200 || resp.StatusCode > 599 {
		refuse(w, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	for name, value := range resp.Headers {
		h.Set(name, value)
	}
	for _, cookie := range resp.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	bodiless := resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	// As AWS's own emulator has it, which its tests hold to the real one:
	// github.com/aws/aws-lambda-dotnet, Tools/LambdaTestTool-v2. There it is so
	// even without a body, which is left out here: nobody could do anything
	// about it.
	if h.Get("Content-Type") == "" && !bodiless {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	w.WriteHeader(resp.StatusCode)
	if r.Method != http.MethodHead && !bodiless {
		w.Write(body)
	}
}

// newRequestID returns a request id that looks like API Gateway's.
func newRequestID() string {
	var b [11]byte
	rand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}

// sourceIP returns the client's address without the port.
func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return strings.Trim(r.RemoteAddr, "[]")
	}
	return host
}
