// Package lambdahttp runs an [http.Handler] on AWS Lambda, behind an API Gateway HTTP API.
// The adapter of aws-lambda-go-api-proxy converts events to requests, and responses back.
// This package prevents only the failures of the adapter that clients could cause.
//
// Events have payload format 2.0:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
package lambdahttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/go-json-experiment/json"

	"example.com/plantstore/internal/logging"
)

// DeadlineMargin is the time between the end of a request's context and the deadline of the
// invocation, when Lambda kills the process. It lets the handler respond, for example with
// 504.
const DeadlineMargin = 500 * time.Millisecond

// A Handler responds to Lambda invocations with an [http.Handler]. It implements
// lambda.Handler of aws-lambda-go and is safe for concurrent use.
type Handler struct {
	service    *httpadapter.HandlerAdapterV2
	badRequest *httpadapter.HandlerAdapterV2 // responds to malformed requests
	log        *slog.Logger
}

// New returns a Handler that serves requests with service. It serves malformed requests with
// badRequest, and logs a warning.
func New(service, badRequest http.Handler, log *slog.Logger) *Handler {
	return &Handler{newAdapter(service), newAdapter(badRequest), log}
}

// newAdapter returns an adapter to handler that sends no body in response to HEAD.
func newAdapter(handler http.Handler) *httpadapter.HandlerAdapterV2 {
	return httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(responseWriter{w, r.Method == http.MethodHead}, r)
	}))
}

// Invoke responds to the event in payload. The context of the request ends DeadlineMargin
// before ctx does, if that has a deadline, or when Invoke returns.
//
// A malformed request gets 400. An error instead would be a Lambda error, which sets off the
// function's alarms and could roll back a healthy deployment.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := withInvocation(ctx)
	defer cancel()
	event, err := parse(payload)
	ctx = logging.With(ctx, slog.String("apigw_request_id", event.RequestContext.RequestID))
	adapter := h.service
	if err != nil {
		h.log.WarnContext(ctx, "malformed request", "cause", err.Error())
		adapter, event = h.badRequest, blank(event)
	}
	resp, err := adapter.ProxyWithContext(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(resp)
}

// blank returns an event that the adapter accepts in place of a malformed one. Only whether its
// method is HEAD matters for the response.
func blank(malformed events.APIGatewayV2HTTPRequest) (event events.APIGatewayV2HTTPRequest) {
	if malformed.RequestContext.HTTP.Method == http.MethodHead {
		event.RequestContext.HTTP.Method = http.MethodHead
	}
	return event
}

// parse decodes an event for the adapter. Unlike version 1 of encoding/json, it rejects
// invalid UTF-8, instead of replacing it with something the client never sent. Even after an
// error, the event may contain its method and its request id.
func parse(payload []byte) (event events.APIGatewayV2HTTPRequest, err error) {
	if err := json.Unmarshal(payload, &event); err != nil {
		return event, err
	}
	// An HTTP API has already decoded the path, for example from /plants/1%2F2 to /plants/1/2. The
	// adapter parses it as part of a URL, as in https://DomainName/plants/1/2?RawQueryString. So a
	// "%", "?" or "#" in it must be escaped again, and so must a "#" in the query.
	address := url.URL{Scheme: "https", Host: event.RequestContext.DomainName, Path: event.RawPath,
		RawQuery: strings.ReplaceAll(event.RawQueryString, "#", "%23")}
	event.RawPath, event.RawQueryString = address.EscapedPath(), address.RawQuery
	// Only the adapter's call of http.NewRequest can still fail because of a client. The adapter would print
	// the error with the client's text, which could add forged lines to the log. So the call is tried here
	// first. FuzzInvoke checks that no other call of the adapter fails.
	if _, err := http.NewRequest(event.RequestContext.HTTP.Method, address.String(), nil); err != nil {
		return event, errors.New("invalid method or query string") // err contains the query
	}
	return event, nil
}

// A responseWriter drops the body of responses to HEAD, which the adapter would send.
type responseWriter struct {
	http.ResponseWriter
	isHead bool
}

func (w responseWriter) Write(p []byte) (int, error) {
	if w.isHead {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// withInvocation returns a copy of ctx, the context of an invocation, that ends
// DeadlineMargin earlier. Its log lines carry the same ids as Lambda's own lines: the request
// id as request_id, and the trace id as trace_id.
func withInvocation(ctx context.Context) (context.Context, context.CancelFunc) {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		ctx = logging.WithRequestID(ctx, lc.AwsRequestID)
	}
	// aws-lambda-go stores the X-Ray trace header under this key, such as
	// Root=1-5759e988-bd86;Parent=5399;Sampled=1.
	trace, _ := ctx.Value("x-amzn-trace-id").(string)
	if _, root, ok := strings.Cut(trace, "Root="); ok {
		root, _, _ = strings.Cut(root, ";")
		ctx = logging.With(ctx, slog.String("trace_id", root))
	}
	deadline, ok := ctx.Deadline()
	if !ok { // not on Lambda, for example in a test
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-DeadlineMargin))
}
