// Package lambdahttp runs an [http.Handler] on AWS Lambda, behind an API Gateway
// HTTP API or a Lambda function URL, both in payload format 2.0. The handler
// sees what it would see behind [net/http.Server], and every event is answered:
// with the handler's answer where it is an HTTP request, and otherwise with
// another HTTP answer, but never with a Lambda error. A Lambda error counts
// against the function's alarms and would roll back a healthy deployment.
//
// The conversion is done by the httpadapter of aws-lambda-go-api-proxy. This
// package decodes the event itself and gives the adapter only what the adapter
// gets right, sets the rest on the request afterwards, and stands between the
// handler and the adapter's ResponseWriter. The comments say at each place what
// the adapter would do; the tests run the bare adapter beside this package and
// show it.
//
// What the adapter prints through the log and fmt packages it prints when a
// conversion fails. Each cause of that is refused or repaired before the
// adapter is called, so nothing is printed.
//
// The format is described at
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
// and https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html.
package lambdahttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"example.com/plantstore/internal/logging"
)

// DeadlineMargin is the time by which the context of a request ends before the
// deadline of the invocation. In it the handler still answers, 503 or 504 for
// instance, and the answer reaches the front. At the deadline itself Lambda
// kills the process, and the client sees the front's own error.
const DeadlineMargin = 500 * time.Millisecond

// maxPayload is the largest answer, in bytes, that Lambda takes from a function
// that was invoked synchronously. A larger one is a Lambda error.
// See https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html.
const maxPayload = 6 << 20

const badEventMessage = "not an HTTP request in payload format 2.0: invoke the function through an HTTP API or a function URL"

// Options say how a [Handler] answers where its service can't. The zero value
// is ready for use.
type Options struct {
	// BadEvent answers events that are no HTTP request in payload format 2.0:
	// of a REST API, a load balancer or a bucket, or not even JSON. It should
	// answer 400. Its request is a GET of / with nothing else in it. If nil,
	// the answer is 400 with the error 40000.
	BadEvent http.Handler

	// Failure answers requests whose handler panicked, or answered more than
	// Lambda can take. It should answer 500. Its request is that of the
	// handler, whose context may have ended. If nil, the answer is 500 with the
	// error 50000.
	Failure http.Handler

	// Logger takes one line for each bad event (a warning) and each failure (an
	// error, with the stack of a panic). If nil, it is [slog.Default].
	Logger *slog.Logger
}

// A Handler answers Lambda invocations through an [http.Handler]. It is a
// lambda.Handler of aws-lambda-go, and safe for concurrent use.
type Handler struct {
	service, badEvent, failure http.Handler
	log                        *slog.Logger
}

// New returns the Handler that answers through service.
//
// It removes GO_API_HOST from the environment of the process: the adapter takes
// the host of every request from there, and a value that is no URL would make
// every request fail.
func New(service http.Handler, o Options) *Handler {
	os.Unsetenv(core.CustomHostVariable)
	h := &Handler{service, o.BadEvent, o.Failure, o.Logger}
	if h.badEvent == nil {
		h.badEvent = fixed(http.StatusBadRequest, `{"error":40000,"message":"`+badEventMessage+`"}`)
	}
	if h.failure == nil {
		h.failure = fixed(http.StatusInternalServerError, `{"error":50000,"message":"internal error"}`)
	}
	if h.log == nil {
		h.log = slog.Default()
	}
	return h
}

// fixed answers every request with status and body, which is JSON.
func fixed(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write([]byte(body))
	})
}

// lastResort is the answer when even Options.Failure failed.
const lastResort = `{"statusCode":500,"headers":{"Cache-Control":"no-store","Content-Type":"application/json"},` +
	`"body":"{\"error\":50000,\"message\":\"internal error\"}","isBase64Encoded":false}`

// Invoke answers the event in payload with an HTTP response in payload format
// 2.0. The error is always nil.
//
// The context of the request ends [DeadlineMargin] before that of ctx, and when
// Invoke returns. Log lines of that context carry the request ids of Lambda and
// of API Gateway, as request_id and apigw_request_id (see [logging.With]).
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := withMargin(ctx)
	defer cancel()
	e, err := parse(payload)
	ctx = withRequestIDs(ctx, e)
	handler := h.service
	if err != nil {
		h.log.WarnContext(ctx, badEventMessage, "cause", err.Error())
		e, handler = noRequest(), h.badEvent
	}
	if answer, ok := h.try(ctx, e, handler); ok {
		return answer, nil
	}
	if answer, ok := h.try(ctx, e, h.failure); ok {
		return answer, nil
	}
	return []byte(lastResort), nil
}

// try answers e through handler. If that fails, by a panic for instance, it
// says why in the log and returns false.
func (h *Handler) try(ctx context.Context, e *event, handler http.Handler) (answer []byte, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			h.logPanic(ctx, v)
		}
	}()
	adapter := httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.complete(r)
		rw := &responseWriter{adapter: w, header: make(http.Header), isHead: r.Method == http.MethodHead}
		handler.ServeHTTP(rw, r)
		rw.finish()
	}))
	resp, err := adapter.ProxyWithContext(ctx, e.forAdapter())
	if err == nil {
		answer, err = encode(resp)
	}
	if err != nil {
		h.log.ErrorContext(ctx, "the request can't be answered", "cause", err.Error())
		return nil, false
	}
	return answer, true
}

// logPanic logs the panic v with the stack that it came from. A handler that
// panics with [http.ErrAbortHandler] wants that not to be logged.
func (h *Handler) logPanic(ctx context.Context, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return
	}
	h.log.ErrorContext(ctx, "panic", "cause", fmt.Sprint(v), "stack", string(debug.Stack()))
}

// withMargin returns a context that ends DeadlineMargin before ctx.
func withMargin(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-DeadlineMargin))
}

// withRequestIDs gives the log lines of ctx the request ids that are known.
func withRequestIDs(ctx context.Context, e *event) context.Context {
	var ids []slog.Attr
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		ids = append(ids, slog.String(logging.RequestID, lc.AwsRequestID))
	}
	if id := e.RequestContext.RequestID; id != "" {
		ids = append(ids, slog.String("apigw_request_id", id))
	}
	return logging.With(ctx, ids...)
}
