package lambdahttp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"example.com/plantstore/internal/handlers"
)

// badEvents returns events that are not valid HTTP requests. API Gateway doesn't
// send them, but anyone who is allowed to invoke the function can.
func badEvents(t testing.TB) map[string][]byte {
	bad := make(map[string][]byte)
	for _, name := range []string{"alb-lambda-target-request-headers-only", "apigw-request", "apigw-websocket-request", "s3-event"} {
		bad[name] = fixture(t, "aws-lambda-go/"+name+".json")
	}
	const rest = `,"requestContext":{"http":{"method":"GET"}}}`
	for _, text := range []string{
		"", "null", `"2.0"`, "[]", "{}", `{"rawPath":"/"` + rest, `{"version":"2.0","rawPath":"/","rawPath":"/plants"` + rest,
		`{"version":"2.0","rawPath":"/\ud800"` + rest, `{"version":"2.0","rawPath":"/` + "\xff\"" + rest,
	} {
		bad[fmt.Sprintf("%.60q", text)] = []byte(text)
	}
	for _, c := range [][]any{
		{"version", "2.1"}, {"version", 2}, {"rawPath", nil}, {"rawPath", "plants"}, {"cookies", "a=b"}, {"headers/accept", []any{"a"}},
		{"body", map[string]any{"id": 1}}, {"isBase64Encoded", "true"}, {"requestContext", nil}, {"requestContext/http/method", ""},
		{"isBase64Encoded", true, "body", "YQ"},
	} {
		bad[fmt.Sprintf("%#v", c)] = with(t, httpAPI, c...)
	}
	bad["path of a function URL"] = with(t, functionURL, "rawPath", "/%zz")
	return bad
}

// A bad event gets 400 in the service's Error shape and a warning in the log. The
// service doesn't see it.
func TestBadEvents(t *testing.T) {
	service := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s reached the service", r.Method, r.URL) })
	const want = `400 ` + ownHeaders + ` "{\"error\":40000,\"message\":` +
		`\"not an HTTP request in payload format 2.0: invoke the function through an HTTP API or a function URL\"}\n"`
	for name, event := range badEvents(t) {
		logger, lines := logged()
		if got := whole(invoke(t, New(service, handlers.SendError, logger), event)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if l := lines(); len(l) != 1 || l[0]["level"] != "WARN" || l[0]["cause"] == "" || l[0]["request_id"] != "l1" {
			t.Errorf("%s: log %v, want one warning with a cause and the id of the invocation", name, l)
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ours(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }).Invoke(ctx, fixture(t, httpAPI))
		if took := time.Since(start); took != 9500*time.Millisecond {
			t.Errorf("the request's context ended after %v, want 9.5s", took)
		}
	})
}

// The context of a request ends with the invocation, so that work started by the request
// doesn't continue in the next invocation.
func TestContextEnds(t *testing.T) {
	for _, invocation := range []string{"without a deadline", "with a deadline"} {
		ctx := context.Background()
		if invocation == "with a deadline" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Minute)
			defer cancel()
		}
		var request context.Context
		ours(func(_ http.ResponseWriter, r *http.Request) { request = r.Context() }).Invoke(ctx, fixture(t, httpAPI))
		if request.Err() == nil {
			t.Errorf("%s: the context of the request hasn't ended", invocation)
		}
	}
}

// The log lines of a request, and of a bad event, carry the known ids from Lambda, the
// trace and API Gateway.
func TestRequestIDs(t *testing.T) {
	for _, tt := range []struct {
		trace string // of X-Ray
		event []byte
		want  map[string]any
	}{
		{"Parent=4;Root=1-2-3;Sampled=1", fixture(t, httpAPI), map[string]any{"request_id": "l1", "trace_id": "1-2-3", "apigw_request_id": "JKJaXmPLvHcESHA="}},
		{"", with(t, httpAPI, "requestContext/requestId", nil), map[string]any{"request_id": "l1"}},
		{"OtherRoot=1", with(t, httpAPI, "rawPath", ""), map[string]any{"request_id": "l1", "apigw_request_id": "JKJaXmPLvHcESHA="}},
	} {
		logger, lines := logged()
		h := New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { logger.InfoContext(r.Context(), "request") }), handlers.SendError, logger)
		ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "l1"})
		//lint:ignore SA1029 the key of aws-lambda-go
		h.Invoke(context.WithValue(ctx, "x-amzn-trace-id", tt.trace), tt.event)
		for _, line := range lines() {
			maps.DeleteFunc(line, func(name string, _ any) bool { return !strings.HasSuffix(name, "_id") })
			if !maps.Equal(line, tt.want) {
				t.Errorf("the line contains %v, want %v", line, tt.want)
			}
		}
		if len(lines()) != 1 {
			t.Errorf("%d lines, want 1", len(lines()))
		}
	}
}
