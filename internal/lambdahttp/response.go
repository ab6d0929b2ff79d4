package lambdahttp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// A responseWriter gives a handler what the ResponseWriter of [net/http.Server]
// gives it, on top of the adapter's ResponseWriter.
type responseWriter struct {
	adapter http.ResponseWriter
	header  http.Header // as the handler sets it
	isHead  bool        // the request's method is HEAD
	status  int         // 0 until it is sent
}

// Header returns the header that WriteHeader sends.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader sends status and header. Only the first call has an effect; in the
// adapter the last one would win. Informational (1xx) responses are dropped,
// since a Lambda response can't carry them. WriteHeader panics if API Gateway
// can't return the status.
//
// Like net/http it drops invalid names, and replaces control characters in values by
// spaces. Bytes that are not UTF-8 become U+FFFD, since JSON can't carry them.
func (w *responseWriter) WriteHeader(status int) {
	if status < 100 || status > 599 {
		panic(fmt.Sprintf("invalid status %d: use 200 to 599", status))
	}
	if w.status != 0 || status < 200 {
		return
	}
	w.status = status
	for name, values := range w.header {
		name = http.CanonicalHeaderKey(name)
		if !isToken(name) || slices.Contains(connectionHeaders, name) {
			continue
		}
		for _, v := range values {
			w.adapter.Header().Add(name, strings.Map(printable, v))
		}
	}
	w.adapter.WriteHeader(status)
}

// connectionHeaders are those that API Gateway sets itself.
var connectionHeaders = []string{"Connection", "Content-Length", "Transfer-Encoding"}

// printable returns c, or a space for a control character.
func printable(c rune) rune {
	if isControl(c) {
		return ' '
	}
	return c
}

// Write sends a part of the body, if the response may have one. The adapter
// would send a body with 204, 304 and in responses to HEAD too.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.ensureStatus()
	switch {
	case len(p) == 0: // the adapter would guess a Content-Type from it
		return 0, nil
	case w.status == http.StatusNoContent, w.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case w.isHead:
		return len(p), nil
	}
	return w.adapter.Write(p)
}

// ensureStatus sends status 200 if the handler sent none. The adapter fails without a
// status.
func (w *responseWriter) ensureStatus() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}

// maxPayload is the size limit, in bytes, of a response to a synchronous
// invocation. A larger response is a Lambda error.
// See https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html.
const maxPayload = 6 << 20

// encode returns resp in payload format 2.0, or an error if Lambda would reject
// it.
func encode(resp events.APIGatewayV2HTTPResponse) ([]byte, error) {
	// Not the type itself: it has a field that the format doesn't have.
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
		return nil, fmt.Errorf("the response has %d bytes of JSON; Lambda's limit is %d", len(b), maxPayload)
	}
	return b, nil
}
