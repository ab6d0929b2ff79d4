package lambdahttp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// A responseWriter stands between a handler and the adapter's ResponseWriter,
// and does what that of [net/http.Server] does.
type responseWriter struct {
	adapter http.ResponseWriter
	header  http.Header // the handler's
	isHead  bool        // the answer to a HEAD request
	status  int         // 0 until it is written
}

// Header returns the header that WriteHeader sends.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader sends status and header. The first call counts: in the adapter
// it would be the last. Informational answers are left out, since a Lambda
// response has no place for them. It panics if status is none that API Gateway
// can pass on; then the answer is a failure.
func (w *responseWriter) WriteHeader(status int) {
	if status < 100 || status > 599 {
		panic(fmt.Sprintf("invalid status %d: use 200 to 599", status))
	}
	if w.status != 0 || status < 200 {
		return
	}
	w.status = status
	w.sendHeader()
	w.adapter.WriteHeader(status)
}

// sendHeader copies the header to the adapter, where what the handler changes
// from now on no longer counts. It takes names and values as net/http does:
// names that are none are left out, and control characters in values become
// spaces (and bytes that are not UTF-8, for which JSON has no way, U+FFFD). The fields that frame a message are left out as well: the front sends
// the message anew and frames it itself.
func (w *responseWriter) sendHeader() {
	to := w.adapter.Header()
	for name, values := range w.header {
		name = http.CanonicalHeaderKey(name)
		if !isToken(name) || framing[name] {
			continue
		}
		for _, v := range values {
			to[name] = append(to[name], strings.Map(printable, v))
		}
	}
}

// framing are the header fields of one connection, not of an answer.
var framing = map[string]bool{"Connection": true, "Content-Length": true, "Transfer-Encoding": true}

// printable returns c, or a space for a control character.
func printable(c rune) rune {
	if isControl(c) {
		return ' '
	}
	return c
}

// Write sends a part of the body, if the answer may have one: in the adapter,
// 204, 304 and the answers to HEAD keep theirs.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.finish()
	switch {
	case len(p) == 0: // from which the adapter would guess a Content-Type
		return 0, nil
	case w.status == http.StatusNoContent, w.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case w.isHead:
		return len(p), nil
	}
	return w.adapter.Write(p)
}

// finish makes sure that there is a status: the adapter fails without one.
func (w *responseWriter) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}

// encode returns resp in payload format 2.0, or an error if Lambda would not
// take it.
func encode(resp events.APIGatewayV2HTTPResponse) ([]byte, error) {
	// The names that format 2.0 has: events.APIGatewayV2HTTPResponse has one more.
	b, err := json.Marshal(struct {
		StatusCode      int               `json:"statusCode"`
		Headers         map[string]string `json:"headers"`
		Cookies         []string          `json:"cookies,omitempty"`
		Body            string            `json:"body"`
		IsBase64Encoded bool              `json:"isBase64Encoded"`
	}{resp.StatusCode, resp.Headers, resp.Cookies, resp.Body, resp.IsBase64Encoded})
	if err != nil {
		return nil, err
	}
	if len(b) > maxPayload {
		return nil, fmt.Errorf("the response has %d bytes of JSON, more than the %d that Lambda takes", len(b), maxPayload)
	}
	return b, nil
}
