// Package lambdahttp runs an [http.Handler] on AWS Lambda, behind an API Gateway
// HTTP API or a Lambda function URL. The handler sees the same requests as behind
// [net/http.Server]. Every event gets an HTTP response: 400 if it is not an HTTP
// request, and 500 if the handler panics. A Lambda error would set off the
// function's alarms and could roll back a healthy deployment.
//
// The package uses the adapter of aws-lambda-go-api-proxy only to pass the body in and the
// response out. event.complete sets the rest of the request, and responseWriter follows
// the rules of net/http where the adapter doesn't.
//
// The format is documented at
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
// and https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html.
package lambdahttp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

// deadlineMargin is the time between the end of a request's context and the deadline of
// the invocation, when Lambda kills the process. It lets the handler respond, for example
// with 504.
const deadlineMargin = 500 * time.Millisecond

// The messages of the responses that don't come from the service.
const (
	badEventMessage = "not an HTTP request in payload format 2.0: invoke the function through an HTTP API or a function URL"
	panicMessage    = "internal error; retry, and report the X-Request-Id" // as in package handlers
)

// A Handler responds to Lambda invocations with an [http.Handler]. It implements
// lambda.Handler of aws-lambda-go and is safe for concurrent use.
type Handler struct {
	service   http.Handler
	sendError SendError
	log       *slog.Logger
}

// A SendError sends an error response with the given status and message.
type SendError func(w http.ResponseWriter, r *http.Request, status int, message string)

// New returns a Handler that serves requests with service. If an event is not an HTTP
// request, it logs a warning and responds with sendError and status 400. If the service
// panics, it logs an error and responds with sendError and status 500.
func New(service http.Handler, sendError SendError, log *slog.Logger) *Handler {
	os.Unsetenv(core.CustomHostVariable) // with an invalid host in it, the adapter would fail
	return &Handler{service, sendError, log}
}

// Invoke responds to the event in payload. The error is always nil.
//
// The context of the request ends deadlineMargin before ctx does, or when Invoke
// returns. Its log lines carry the ids from withInvocation, and the request id from
// API Gateway as apigw_request_id.
func (h *Handler) Invoke(ctx context.Context, payload []byte) (response []byte, _ error) {
	e := new(event)
	// Package handlers recovers from its own panics. This is for whatever else panics: the end
	// of the process would be a Lambda error.
	defer func() {
		if v := recover(); v != nil {
			h.log.ErrorContext(ctx, "panic", "cause", fmt.Sprint(v), "stack", string(debug.Stack()))
			response = h.fail(ctx, e, http.StatusInternalServerError, panicMessage)
		}
	}()
	ctx, cancel := withInvocation(ctx)
	defer cancel()
	err := e.parse(payload)
	if id := e.RequestContext.RequestID; id != "" {
		ctx = logging.With(ctx, slog.String("apigw_request_id", id))
	}
	if err != nil {
		h.log.WarnContext(ctx, badEventMessage, "cause", err.Error())
		return h.fail(ctx, e, http.StatusBadRequest, badEventMessage), nil
	}
	return e.respond(ctx, h.service), nil
}

// respond returns the response of service to e, in payload format 2.0.
func (e *event) respond(ctx context.Context, service http.Handler) []byte {
	adapter := httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.complete(r)
		rw := &responseWriter{ResponseWriter: w, isHead: r.Method == http.MethodHead}
		service.ServeHTTP(rw, r)
		rw.WriteHeader(http.StatusOK) // unless the service sent another; the adapter fails without a status
	}))
	resp, err := adapter.ProxyWithContext(ctx, events.APIGatewayV2HTTPRequest{ // with the body alone: complete sets the rest
		Body:           e.Body,
		RequestContext: events.APIGatewayV2HTTPRequestContext{DomainName: "localhost"}, // the adapter needs a valid one
	})
	if err != nil {
		panic(err) // the host name is valid, and there is a status
	}
	payload, err := json.Marshal(resp, jsontext.AllowInvalidUTF8(true)) // in headers
	if err != nil {
		panic(err) // resp contains only strings and numbers
	}
	return payload
}

// fail returns the response to an event that the service can't respond to. The event
// may be invalid.
func (h *Handler) fail(ctx context.Context, e *event, status int, message string) []byte {
	return e.respond(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.sendError(w, r, status, message)
	}))
}

// withInvocation returns a copy of ctx, the context of an invocation, that ends
// deadlineMargin earlier. Its log lines carry the same ids as Lambda's own lines: the
// request id as request_id, and the trace id as trace_id.
func withInvocation(ctx context.Context) (context.Context, context.CancelFunc) {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		ctx = logging.WithRequestID(ctx, lc.AwsRequestID)
	}
	// aws-lambda-go stores the X-Ray trace header under this key, such as
	// Root=1-5759e988-bd86;Parent=5399;Sampled=1.
	trace, _ := ctx.Value("x-amzn-trace-id").(string)
	if _, root, ok := strings.Cut(";"+trace, ";Root="); ok {
		root, _, _ = strings.Cut(root, ";")
		ctx = logging.With(ctx, slog.String("trace_id", root))
	}
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-deadlineMargin))
	}
	return context.WithCancel(ctx)
}
