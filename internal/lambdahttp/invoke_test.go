package lambdahttp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// badEvents returns events that are not valid HTTP requests. API Gateway doesn't
// send them, but anyone who is allowed to invoke the function can.
func badEvents(t testing.TB) map[string][]byte {
	bad := make(map[string][]byte)
	for _, name := range []string{
		"alb-lambda-target-request-headers-only", "alb-lambda-target-request-multivalue-headers", "apigw-request", "apigw-restapi-openapi-request",
		"apigw-v2-custom-authorizer-v1-request", "apigw-websocket-request", "s3-event", "sqs-event",
	} {
		bad[name] = fixture(t, "aws-lambda-go/"+name+".json")
	}
	for _, text := range []string{
		"", " ", "null", "true", "0", "1e999", `""`, `"2.0"`, "[]", "[[[", "{}", "{", "\xef\xbb\xbf{}", "\xff", "not JSON", `{"version":"2.0"}`, "{}{}",
		`{"version":2.0}`, `{"version":"1.0"}`, `{"requestContext":{"http":{"method":"GET"}}}`,
		`{"version":"2.0","rawPath":"/","requestContext":null}`, `{"version":"2.0","rawPath":"/","requestContext":[]}`,
		`{"version":"2.0","rawPath":"/","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`,
		`{"version":"2.0","rawPath":"/\ud800","requestContext":{"http":{"method":"GET"}}}`,
		`{"version":"2.0","rawPath":"/` + "\xff" + `","requestContext":{"http":{"method":"GET"}}}`,
		strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 20_000), `{"source":"aws.events","detail-type":"Scheduled Event"}`,
	} {
		bad[fmt.Sprintf("%.60q", text)] = []byte(text)
	}
	for _, c := range []struct {
		path  string
		value any
	}{
		{"version", "2.1"}, {"version", 2}, {"rawPath", 1}, {"rawPath", nil}, {"rawPath", ""}, {"rawPath", "plants"}, {"rawPath", "*"},
		{"rawPath", []any{}}, {"rawQueryString", 1}, {"rawQueryString", map[string]any{}}, {"cookies", "a=b"}, {"cookies", []any{1}},
		{"cookies", []any{"a\r\nb: c"}}, {"headers", []any{}}, {"headers", "a"}, {"headers/accept", 1}, {"headers/accept", []any{"a"}},
		{"headers/accept", "a\r\nb: c"}, {"headers/accept", "a\x00"}, {"headers/accept", "a\x7f"}, {"headers/", "a"}, {"headers/a b", "c"}, {"headers/a\r\nb", "c"},
		{"headers/é", "c"}, {"headers/Accept", "twice"}, {"headers/Host", "twice"}, {"body", 1}, {"body", map[string]any{"id": 1}},
		{"isBase64Encoded", "true"}, {"isBase64Encoded", 1e300}, {"requestContext", "a"}, {"requestContext/domainName", 1},
		{"requestContext/requestId", 1}, {"requestContext/http", []any{}}, {"requestContext/http/method", ""},
		{"requestContext/http/method", 1}, {"requestContext/http/method", "GE T"}, {"requestContext/http/method", "GET\r\n"},
		{"requestContext/http/method", "gét"}, {"requestContext/http/sourceIp", 1},
	} {
		bad[fmt.Sprintf("%s = %#v", c.path, c.value)] = with(t, httpAPI, c.path, c.value)
	}
	for _, path := range []string{"/plants/%", "/%zz", "/a%2"} {
		bad["function URL "+path] = with(t, functionURL, "rawPath", path)
	}
	for _, body := range []string{"=", "a", "YQ", "YQ==YQ==", "\u00e9"} {
		bad["base64 "+body] = set(t, with(t, create, "isBase64Encoded", true), "body", body)
	}
	return bad
}

// A bad event gets 400 in the service's Error shape and a warning in the log.
// The service doesn't see it, and the adapter prints nothing.
func TestBadEvents(t *testing.T) {
	service := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s reached the service", r.Method, r.URL) })
	const want = `400 map["Cache-Control":"no-store" "Content-Type":"application/json"] "{\"error\":40000,\"message\":` +
		`\"not an HTTP request in payload format 2.0: invoke the function through an HTTP API or a function URL\"}\n"`
	for name, event := range badEvents(t) {
		logger, lines := logged()
		h := New(service, logger)
		out := printed(t, func() {
			b, err := h.Invoke(t.Context(), event)
			if got := whole(decode(t, b, err)); got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		})
		if out != "" {
			t.Errorf("%s: printed %q", name, out)
		}
		if l := lines(); len(l) != 1 || l[0]["level"] != "WARN" || l[0]["cause"] == "" {
			t.Errorf("%s: log %v, want one warning with a cause", name, l)
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		h := ours(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusGatewayTimeout)
			fmt.Fprint(w, r.Context().Err())
		})
		b, err := h.Invoke(ctx, fixture(t, httpAPI))
		if a := decode(t, b, err); a.StatusCode != 504 || a.Body != "context deadline exceeded" {
			t.Errorf("%+v", a)
		}
		if took := time.Since(start); took != 9500*time.Millisecond {
			t.Errorf("the request's context ended after %v, want 9.5s", took)
		}
	})
}

// The context of a request ends when the request does, as in net/http.
func TestContextEnds(t *testing.T) {
	timed, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), timed} {
		var seen context.Context
		h := ours(func(_ http.ResponseWriter, r *http.Request) {
			if seen = r.Context(); seen.Err() != nil {
				t.Error(seen.Err())
			}
		})
		if _, err := h.Invoke(ctx, fixture(t, httpAPI)); err != nil || seen.Err() != context.Canceled {
			t.Errorf("error %v, context %v", err, seen.Err())
		}
	}
}

// Log lines of a request carry the ids of Lambda, of the trace and of API Gateway,
// and those of a bad event the ids that are known.
func TestRequestIDs(t *testing.T) {
	invocation := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "l1"})
	traced := func(header string) context.Context {
		//lint:ignore SA1029 the key of aws-lambda-go
		return context.WithValue(invocation, "x-amzn-trace-id", header)
	}
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		event []byte
		want  map[string]any
	}{
		{"both", invocation, fixture(t, httpAPI), map[string]any{"request_id": "l1", "apigw_request_id": "JKJaXmPLvHcESHA="}},
		{"not on Lambda", t.Context(), fixture(t, httpAPI), map[string]any{"apigw_request_id": "JKJaXmPLvHcESHA="}},
		{"none from API Gateway", invocation, with(t, httpAPI, "requestContext/requestId", nil), map[string]any{"request_id": "l1"}},
		{"bad event", invocation, []byte("{}"), map[string]any{"request_id": "l1"}},
		{"trace", traced("Root=1-2-3;Parent=4;Sampled=1;Root=5"), []byte("{}"), map[string]any{"request_id": "l1", "trace_id": "1-2-3"}},
		{"trace without a root", traced("Sampled=0"), []byte("{}"), map[string]any{"request_id": "l1"}},
		{"bad path", invocation, with(t, httpAPI, "rawPath", ""), map[string]any{"request_id": "l1", "apigw_request_id": "JKJaXmPLvHcESHA="}},
	} {
		logger, lines := logged()
		h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { logger.InfoContext(r.Context(), "request") })
		b, err := New(h, logger).Invoke(tt.ctx, tt.event)
		if a := decode(t, b, err); a.StatusCode == 400 && a.Headers["X-Request-Id"] != tt.want["request_id"] {
			t.Errorf("%s: headers %v, want X-Request-Id", tt.name, a.Headers)
		}
		if len(lines()) != 1 {
			t.Errorf("%s: %d log lines, want 1", tt.name, len(lines()))
		}
		for _, line := range lines() {
			maps.DeleteFunc(line, func(name string, _ any) bool { return !strings.HasSuffix(name, "_id") })
			if !maps.Equal(line, tt.want) {
				t.Errorf("%s: log line has %v, want %v", tt.name, line, tt.want)
			}
		}
	}
}

func TestConcurrentInvocations(t *testing.T) {
	h := ours(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) })
	var wg sync.WaitGroup
	for i := range 8 {
		event := with(t, httpAPI, "rawPath", fmt.Sprint("/", i))
		wg.Go(func() {
			for range 50 {
				b, err := h.Invoke(context.Background(), event)
				if !strings.Contains(string(b), fmt.Sprintf(`"body":"/%d"`, i)) {
					t.Errorf("path /%d: got %s, error %v", i, b, err)
				}
			}
		})
	}
	wg.Wait()
}
