// Package selftest lets a deployed function tell whether it works: before a new version
// gets traffic (cmd/hook), and whenever an operator asks (make check-deployed).
package selftest

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/lambdahttp"
)

// Event is the payload of an invocation that asks for a [Report].
const Event = `{"selftest": true}`

// A Handler responds to [Event] with a [Report], and leaves all other invocations to
// Next.
//
// A self-test needs the IAM permission to invoke the function. Clients of an HTTP API or
// a function URL can't start one: the event of an HTTP request has other members.
type Handler struct {
	// Parts return an error if the named part doesn't work. The text of the
	// error is in the report, so it must not contain secrets.
	Parts map[string]func(context.Context) error
	Next  lambda.Handler
}

// A Report has the result for each part: "ok", or why the part doesn't work. Beside the
// Parts of the [Handler] there is the part "http": whether Next serves HTTP requests.
type Report struct {
	OK    bool              `json:"ok"`
	Parts map[string]string `json:"parts"`
}

// Invoke implements [lambda.Handler].
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event map[string]bool
	if json.Unmarshal(payload, &event) != nil || len(event) != 1 || !event["selftest"] {
		return h.Next.Invoke(ctx, payload)
	}
	// Errors may quote bytes of a server that are not UTF-8.
	return json.Marshal(h.run(ctx), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// run tests http and the parts of h at the same time.
func (h *Handler) run(ctx context.Context) Report {
	r := Report{OK: true, Parts: map[string]string{}}
	var mu sync.Mutex
	record := func(name string, err error) {
		mu.Lock()
		defer mu.Unlock()
		r.Parts[name] = "ok"
		if err != nil {
			r.OK, r.Parts[name] = false, err.Error()
		}
	}
	// The parts get the time limit and the log attributes that requests have. Next itself
	// adds them to the context of its request.
	invocation, cancel := lambdahttp.WithInvocation(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { record("http", h.request(ctx)) })
	for name, works := range h.Parts {
		group.Go(func() { record(name, works(invocation)) })
	}
	group.Wait()
	return r
}

// request sends an HTTP request without a token. That it is rejected with 401
// proves that the function converts requests, routes them and demands a token.
func (h *Handler) request(ctx context.Context) error {
	b, err := h.Next.Invoke(ctx, []byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil {
		return err
	}
	var response events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(b, &response); err != nil || response.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("a request without a token got %.200s, want status 401", b)
	}
	return nil
}
