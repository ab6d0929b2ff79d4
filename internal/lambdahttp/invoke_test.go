package lambdahttp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// oddEvents are what no front of the service sends, but anyone who may invoke
// the function can.
func oddEvents(t testing.TB) map[string][]byte {
	odd := fixtures(t, "no-request")
	for _, text := range []string{
		"", " ", "null", "true", "0", "1e999", `""`, `"2.0"`, "[]", "[[[", "{}", "{", "\xef\xbb\xbf{}", "\xff", "not JSON", `{"version":"2.0"}`, "{}{}",
		`{"version":2.0}`, `{"version":"1.0"}`, `{"requestContext":{"http":{"method":"GET"}}}`,
		`{"version":"2.0","rawPath":"/","requestContext":null}`, `{"version":"2.0","rawPath":"/","requestContext":[]}`,
		`{"version":"2.0","rawPath":"/","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`,
		`{"version":"2.0","rawPath":"/\ud800","requestContext":{"http":{"method":"GET"}}}`,
		`{"version":"2.0","rawPath":"/` + "\xff" + `","requestContext":{"http":{"method":"GET"}}}`,
		strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 20_000), `{"source":"aws.events","detail-type":"Scheduled Event"}`,
	} {
		odd[fmt.Sprintf("%.60q", text)] = []byte(text)
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
		odd[fmt.Sprintf("%s = %#v", c.path, c.value)] = with(t, httpAPI, c.path, c.value)
	}
	for _, path := range []string{"/plants/%", "/%zz", "/a%2"} {
		odd["function URL "+path] = with(t, functionURL, "rawPath", path)
	}
	for _, body := range []string{"=", "a", "YQ", "YQ==YQ==", "\u00e9"} {
		odd["base64 "+body] = set(t, with(t, create, "isBase64Encoded", true), "body", body)
	}
	return odd
}

// TestOddEvents invokes the function with what is no HTTP request: the answer
// is BadEvent's, the log says why, and nothing else is printed.
func TestOddEvents(t *testing.T) {
	service := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) })
	var asked string
	badEvent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Header, " ", r.ContentLength)
		r.Header.Set("A", "b") // as middleware may
		w.WriteHeader(400)
		fmt.Fprint(w, "bad event")
	})
	for name, event := range oddEvents(t) {
		asked = ""
		logger, lines := logged()
		h := New(service, Options{BadEvent: badEvent, Logger: logger})
		got := printed(t, func() {
			b, err := h.Invoke(t.Context(), event)
			if a := decode(t, b, err); a.StatusCode != 400 || a.Body != "bad event" {
				t.Errorf("%s: %d %s", name, a.StatusCode, a.Body)
			}
		})
		if got != "" {
			t.Errorf("%s: printed %q", name, got)
		}
		if asked != "GET / map[] 0" {
			t.Errorf("%s: BadEvent was asked %q", name, asked)
		}
		if l := lines(); len(l) != 1 || l[0]["level"] != "WARN" || l[0]["cause"] == "" {
			t.Errorf("%s: log %v", name, l)
		}
	}
}

// With the adapter alone, odd events are Lambda errors, lines that are no JSON,
// or requests that nobody sent.
func TestOddEventsBare(t *testing.T) {
	for name, want := range map[string]string{
		`""`:                                  "error: EOF",
		`"not JSON"`:                          "error: invalid character 'o' in literal null (expecting 'u')",
		`"[]"`:                                "error: json: cannot unmarshal array into Go value of type events.APIGatewayV2HTTPRequest",
		`"{}"`:                                "GET /",
		"no-request/s3-event.json":            "GET /",
		"no-request/apigw-request.json":       "GET /",
		`requestContext/http/method = "GE T"`: `error: Could not convert proxy event to request: net/http: invalid method "GE T"`,
		"base64 =":                            "error: Could not convert proxy event to request: illegal base64 data at input byte 0",
	} {
		event, ok := oddEvents(t)[name]
		if !ok {
			t.Fatalf("no event %s", name)
		}
		var seen, got string
		h := bare(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = r.Method + " " + r.URL.Path
			w.WriteHeader(204)
		}))
		out := printed(t, func() { got = outcome(h, event, func([]byte) string { return seen }) })
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if converted := strings.Contains(want, "Could not convert"); converted != (out != "") {
			t.Errorf("%s: printed %q", name, out)
		}
	}
}

// The defaults answer in the Error shape.
func TestDefaults(t *testing.T) {
	b, err := ours(nil).Invoke(t.Context(), []byte("{}"))
	want := `{"error":40000,"message":"not an HTTP request in payload format 2.0: invoke the function through an HTTP API or a function URL"}`
	if a := decode(t, b, err); a.StatusCode != 400 || a.Body != want || a.Headers["Content-Type"] != "application/json" {
		t.Errorf("%+v", a)
	}
	if New(nil, Options{}).log != slog.Default() {
		t.Error("the logger is not the default")
	}
}

// Megabytes of headers, of a query and of a path are for the handler to judge.
func TestLargeEvents(t *testing.T) {
	large := strings.Repeat("a,", 1<<20)
	many := make(map[string]any)
	for i := range 50_000 {
		many[fmt.Sprint("x-", i)] = "a, b"
	}
	for name, event := range map[string][]byte{
		"header":  with(t, httpAPI, "headers/accept", large),
		"headers": with(t, httpAPI, "headers", many),
		"query":   with(t, httpAPI, "rawQueryString", large),
		"path":    with(t, httpAPI, "rawPath", "/"+large),
		"cookies": with(t, httpAPI, "cookies", slices.Repeat([]string{"a=b"}, 100_000)),
		"body":    with(t, httpAPI, "body", large),
	} {
		h := New(standIn(431, "too large"), Options{BadEvent: standIn(400, "bad"), Failure: standIn(500, "failed")})
		b, err := h.Invoke(t.Context(), event)
		if a := decode(t, b, err); a.StatusCode != 431 {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Body)
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		h := ours(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusGatewayTimeout)
			fmt.Fprint(w, r.Context().Err())
		}))
		b, err := h.Invoke(ctx, fixture(t, httpAPI))
		if a := decode(t, b, err); a.StatusCode != 504 || a.Body != "context deadline exceeded" {
			t.Errorf("%+v", a)
		}
		if took := time.Since(start); took != 9500*time.Millisecond {
			t.Errorf("the request's context ended after %v, want 9.5s", took)
		}
	})
}

// As on a server, the context of a request ends with it.
func TestContextEnds(t *testing.T) {
	timed, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), timed} {
		var seen context.Context
		h := ours(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if seen = r.Context(); seen.Err() != nil {
				t.Error(seen.Err())
			}
		}))
		if _, err := h.Invoke(ctx, fixture(t, httpAPI)); err != nil || seen.Err() != context.Canceled {
			t.Errorf("error %v, context %v", err, seen.Err())
		}
	}
}

// The log lines of a request carry the ids by which Lambda and API Gateway know
// it, those of a bad event as far as they are known.
func TestRequestIDs(t *testing.T) {
	invocation := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "l1"})
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
		{"bad path", invocation, with(t, httpAPI, "rawPath", ""), map[string]any{"request_id": "l1", "apigw_request_id": "JKJaXmPLvHcESHA="}},
	} {
		logger, lines := logged()
		h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { logger.InfoContext(r.Context(), "request") })
		if _, err := New(h, Options{BadEvent: h, Logger: logger}).Invoke(tt.ctx, tt.event); err != nil {
			t.Error(err)
		}
		if len(lines()) == 0 {
			t.Errorf("%s: no line", tt.name)
		}
		for _, line := range lines() {
			maps.DeleteFunc(line, func(name string, _ any) bool { return !strings.HasSuffix(name, "request_id") })
			if !maps.Equal(line, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, line, tt.want)
			}
		}
	}
}

// One Handler takes invocations at once, which Lambda's managed instances do.
func TestConcurrent(t *testing.T) {
	h := ours(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	var wg sync.WaitGroup
	for i := range 8 {
		event := with(t, httpAPI, "rawPath", fmt.Sprint("/", i))
		wg.Go(func() {
			for range 50 {
				b, err := h.Invoke(context.Background(), event)
				if !strings.Contains(string(b), fmt.Sprintf(`"body":"/%d"`, i)) {
					t.Errorf("%s %v", b, err)
				}
			}
		})
	}
	wg.Wait()
}
