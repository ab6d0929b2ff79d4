package lambdahttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/logging"
)

var _ lambda.Handler = (*Handler)(nil)

// Events in testdata, made up from public captures of live events (July 2026, vokerhttp/testdata of
// github.com/hotsock/voker): header names in lower case, several values joined by a comma, and
// rawPath decoded twice. Package lambdalocal creates the same events.
const (
	create = "create.json"
	remove = "delete.json" // DELETE /plants/a%20value%2525
)

// with returns the event in a file of testdata with other values. The values are pairs of
// a path, such as headers/host, and the value to set there.
func with(t testing.TB, name string, values ...any) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var event map[string]any
	if err := json.Unmarshal(b, &event); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(values); i += 2 {
		at, names := event, strings.Split(values[i].(string), "/")
		for _, name := range names[:len(names)-1] {
			at = at[name].(map[string]any)
		}
		at[names[len(names)-1]] = values[i+1]
	}
	if b, err = json.Marshal(event); err != nil {
		t.Fatal(err)
	}
	return b
}

// invoke returns the response of a Handler for service in the invocation "l1", and the lines
// of its log.
func invoke(t testing.TB, service http.HandlerFunc, event []byte) (
	a events.APIGatewayV2HTTPResponse, log []map[string]any,
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "l1"})
	var lines bytes.Buffer
	b, err := New(service, http.HandlerFunc(handlers.Refuse), logging.New(&lines, slog.LevelDebug)).Invoke(ctx, event)
	if err != nil {
		t.Fatalf("Lambda error: %v", err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("not a response in format 2.0: %v\n%.200s", err, b)
	}
	json.Unmarshal([]byte("["+strings.ReplaceAll(strings.TrimSpace(lines.String()), "\n", ",")+"]"), &log)
	return a, log
}

// The service sees path and query as they are in the event, although the adapter parses them
// once more, and the headers that it reads as the client sent them.
func TestRequests(t *testing.T) {
	const basil = `{"id":9007199254740993,"name":"Fern, “wild”","tag":""}`
	for _, tt := range []struct {
		event        []byte
		want         string // method, path, query and body
		header, sent string // a header, and its values
	}{
		{with(t, create), "POST /plants? " + basil, "X-Probe", `["first" "second"]`},
		{with(t, create, "headers/content-type", `a/b; c="d, e"`),
			"POST /plants? " + basil, "Content-Type", `["a/b; c=\"d, e\""]`},
		{with(t, create, "body", "e30K", "isBase64Encoded", true),
			"POST /plants? {}\n", "Content-Type", `["application/json"]`},
		{with(t, remove, "headers/authorization", "Bearer a,Bearer b"),
			"DELETE /plants/a value%?repeat=one&repeat=two" +
				"&redirect=https%3A%2F%2Fexample.com%2Fa&literalPlus=a+b&encodedPlus=a%2Bb&empty= ",
			"Authorization", `["Bearer a,Bearer b"]`},
		{with(t, remove, "rawPath", "/plants/1%2F2%", "rawQueryString", "limit=%zz;a"),
			"DELETE /plants/1%2F2%?limit=%zz;a ", "X-Probe", "[]"},
		{with(t, remove, "rawPath", "/a?limit=1#b", "rawQueryString", "limit=2"),
			"DELETE /a?limit=1#b?limit=2 ", "X-Probe", "[]"},
		{with(t, remove, "rawPath", "//a/../\n\x00+", "rawQueryString", "limit=1#&limit=2"),
			"DELETE //a/../\n\x00+?limit=1%23&limit=2 ", "X-Probe", "[]"},
	} {
		var got, sent string
		invoke(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got = fmt.Sprintf("%s %s?%s %s", r.Method, r.URL.Path, r.URL.RawQuery, b)
			sent = fmt.Sprintf("%q", r.Header.Values(tt.header))
			w.WriteHeader(http.StatusOK)
		}, tt.event)
		if got != tt.want || sent != tt.sent {
			t.Errorf("got  %q with %s: %s\nwant %q with %s", got, tt.header, sent, tt.want, tt.sent)
		}
	}
}

// A malformed request gets 400 in the service's Error shape, and a warning in the log that
// doesn't quote it. The service doesn't see it.
func TestMalformedRequests(t *testing.T) {
	for name, event := range map[string][]byte{
		"method":           with(t, remove, "requestContext/http/method", "a b\n{}"),
		"query":            with(t, remove, "rawQueryString", "secret\n{}"),
		"invalid UTF-8":    bytes.Replace(with(t, create), []byte("Fern"), []byte("\xff"), 1),
		"lone surrogate":   bytes.Replace(with(t, create), []byte("Fern"), []byte(`\ud800`), 1),
		"unexpected type":  with(t, create, "body", map[string]any{"id": 1}),
		"malformed, HEAD":  with(t, remove, "requestContext/http/method", "HEAD", "rawQueryString", "\x7f"),
		"not JSON, no ids": nil,
	} {
		a, log := invoke(t, func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%s: %s %s reached the service", name, r.Method, r.URL)
		}, event)
		body := `{"error":40000,"message":"malformed request; check the method and the query string, and send UTF-8"}` + "\n"
		if name == "malformed, HEAD" {
			body = ""
		}
		if a.StatusCode != 400 || a.Body != body ||
			a.Headers["X-Request-Id"] != "l1" || a.Headers["Content-Type"] != "application/json" {
			t.Errorf("%s: got %d %q %q", name, a.StatusCode, a.Headers, a.Body)
		}
		if len(log) != 1 || log[0]["level"] != "WARN" || log[0]["request_id"] != "l1" ||
			strings.Contains(fmt.Sprint(log[0]["cause"]), "secret") {
			t.Errorf("%s: log %v, want one warning with the id of the invocation, and without the query", name, log)
		}
	}
}

// Responses to HEAD and with status 204 have no body, and 204 no Content-Type, although
// the service writes both as for [net/http.Server].
func TestResponses(t *testing.T) {
	service := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Link", "<?a&b>")
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, "[\xf0\x9f")
		io.WriteString(w, "\x8c\xb1]") // a character in two writes
	}
	for method, want := range map[string]string{
		"GET":    `200 map["Content-Type":"application/json" "Link":"<?a&b>"] "[🌱]" false`,
		"HEAD":   `200 map["Content-Type":"application/json" "Link":"<?a&b>"] "" false`,
		"head":   `200 map["Content-Type":"application/json" "Link":"<?a&b>"] "" false`, // the adapter changes it to HEAD
		"DELETE": `204 map[] "" false`,
	} {
		a, _ := invoke(t, service, with(t, remove, "requestContext/http/method", method))
		if got := fmt.Sprintf("%d %q %q %t", a.StatusCode, a.Headers, a.Body, a.IsBase64Encoded); got != want {
			t.Errorf("%s:\n got %s\nwant %s", method, got, want)
		}
	}
}

// The context of a request ends before the invocation, so that the service can respond, and
// work that the request started doesn't continue in the next invocation.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		var request context.Context
		for _, waits := range []bool{false, true} {
			New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if request = r.Context(); waits {
					<-request.Done()
				}
				w.WriteHeader(http.StatusOK)
			}), http.HandlerFunc(handlers.Refuse), slog.New(slog.DiscardHandler)).Invoke(ctx, with(t, remove))
			if request.Err() == nil {
				t.Error("the context of the request hasn't ended with the invocation")
			}
		}
		if took := time.Since(start); took != 10*time.Second-DeadlineMargin {
			t.Errorf("the context of the request ended after %v", took)
		}
	})
	New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.Context().Err(); err != nil {
			t.Errorf("without a deadline, the context of the request has ended: %v", err)
		}
		w.WriteHeader(http.StatusOK)
	}), http.HandlerFunc(handlers.Refuse), slog.New(slog.DiscardHandler)).Invoke(t.Context(), with(t, remove))
}

// The log lines of a request, malformed or not, carry the ids of the invocation, the trace and
// API Gateway.
func TestRequestIDs(t *testing.T) {
	for _, tt := range []struct{ trace, query string }{
		{"Root=1-2-3;Parent=4;Sampled=1", ""},
		{"Parent=4;Root=1-2-3", "\n"},
	} {
		var b bytes.Buffer
		log := logging.New(&b, slog.LevelDebug)
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			log.InfoContext(r.Context(), "request")
			w.WriteHeader(http.StatusOK)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "l1"})
		//lint:ignore SA1029 the key of aws-lambda-go
		ctx = context.WithValue(ctx, "x-amzn-trace-id", tt.trace)
		New(service, http.HandlerFunc(handlers.Refuse), log).Invoke(ctx, with(t, remove, "rawQueryString", tt.query))
		var line map[string]any
		err := json.Unmarshal(b.Bytes(), &line)
		maps.DeleteFunc(line, func(name string, _ any) bool { return !strings.HasSuffix(name, "_id") })
		want := map[string]any{"request_id": "l1", "trace_id": "1-2-3", "apigw_request_id": "ATfSmjLgPHcESJx="}
		if err != nil || !maps.Equal(line, want) {
			t.Errorf("%v: the log is %s, want one line with %v", err, b.String(), want)
		}
	}
}

// FuzzInvoke sends events with arbitrary text from a client. None makes a Lambda error, and
// the service sees the path that the gateway sent.
func FuzzInvoke(f *testing.F) {
	f.Add("GET", "/plants", "limit=1", "accept", "*/*", "")
	f.Add("a b", "/%zz?#\n", "#%zz\x7f", "a\nb", "c,\xff", "\xff")
	f.Add("GET", "/%zz?#\n", "#%zz", "a\nb", "c,\xff", "\xff") // which isn't malformed
	f.Fuzz(func(t *testing.T, method, path, query, name, value, body string) {
		var seen *http.Request
		a, _ := invoke(t, func(w http.ResponseWriter, r *http.Request) {
			seen = r
			w.WriteHeader(http.StatusOK)
			io.Copy(w, r.Body)
		}, with(t, create, "requestContext/http/method", method, "rawPath", "/"+path, "rawQueryString", query,
			"headers", map[string]string{name: value}, "body", body))
		switch {
		case seen == nil && a.StatusCode != http.StatusBadRequest:
			t.Errorf("status %d without a request", a.StatusCode)
		case seen != nil && seen.URL.Path != string([]rune("/"+path)): // package json replaces each invalid byte
			t.Errorf("the service sees the path %q of %q", seen.URL.Path, path)
		}
	})
}
