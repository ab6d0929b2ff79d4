package lambdahttp

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// whole describes a response.
func whole(a answer) string { return fmt.Sprintf("%d %q %q", a.StatusCode, a.Headers, a.Body) }

// ownHeaders are the headers of the responses that the service doesn't send.
const ownHeaders = `map["Cache-Control":"no-store" "Content-Type":"application/json" "X-Content-Type-Options":"nosniff"]`

// Clients see what net/http would send, where the adapter or API Gateway would not.
func TestResponses(t *testing.T) {
	type writer = http.ResponseWriter
	for name, tt := range map[string]struct {
		method string
		handle func(writer)
		want   string
	}{
		"no status":            {"GET", func(w writer) { w.Header().Set("A", "b") }, `200 map["A":"b"] ""`},
		"status twice":         {"GET", func(w writer) { w.WriteHeader(201); w.WriteHeader(500) }, `201 map[] ""`},
		"informational status": {"GET", func(w writer) { w.WriteHeader(103) }, `200 map[] ""`},
		"status too high":      {"GET", func(w writer) { w.WriteHeader(600) }, `500 ` + ownHeaders + ` "{\"error\":50000,\"message\":\"internal error\"}\n"`},
		"204 with a body":      {"DELETE", func(w writer) { w.WriteHeader(204); fmt.Fprint(w, "a") }, `204 map[] ""`},
		"empty body":           {"GET", func(w writer) { w.Write(nil) }, `200 map[] ""`},
		"HEAD with a body":     {"HEAD", func(w writer) { w.Header().Set("Content-Type", "a/b"); fmt.Fprint(w, "a") }, `200 map["Content-Type":"a/b"] ""`},
		"header after status":  {"GET", func(w writer) { w.WriteHeader(200); w.Header().Set("A", "b") }, `200 map[] ""`},
		"header without value": {"GET", func(w writer) { w.Header()["Date"] = nil }, `200 map[] ""`},
		"line break":           {"GET", func(w writer) { w.Header().Set("A", "b\r\nC: d\x00") }, `200 map["A":"b  C: d "] ""`},
		"invalid header name":  {"GET", func(w writer) { w.Header().Set("A: b\r\nC", "d") }, `200 map[] ""`},
		"lower case":           {"GET", func(w writer) { w.Header()["content-type"] = []string{"a/b"}; fmt.Fprint(w, "a") }, `200 map["Content-Type":"a/b"] "a"`},
		"header not UTF-8":     {"GET", func(w writer) { w.Header().Set("A", "caf\xe9") }, `200 map["A":"caf�"] ""`},
		"connection":           {"GET", func(w writer) { w.Header().Set("Content-Length", "7"); w.Header().Set("Connection", "close") }, `200 map[] ""`},
		"panic, HEAD":          {"HEAD", func(w writer) { fmt.Fprint(w, "half"); panic("oh") }, `500 ` + ownHeaders + ` ""`},
	} {
		b, err := ours(func(w http.ResponseWriter, _ *http.Request) { tt.handle(w) }).Invoke(t.Context(), with(t, httpAPI, "requestContext/http/method", tt.method))
		if got := whole(decode(t, b, err)); got != tt.want {
			t.Errorf("%s:\n got %.200s\nwant %s", name, got, tt.want)
		}
	}
}

// TestFormat compares the bytes of a response with the format's documentation.
func TestFormat(t *testing.T) {
	h := ours(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		w.Write([]byte(`{"name":"`))
		w.Write([]byte("\xf0\x9f"))
		w.Write([]byte("\x8c\xb1\"}")) // a character in two writes
	})
	const want = `{"statusCode":201,"headers":{"Content-Type":"application/json"},"cookies":["a=1; Path=/","b=2"],` +
		`"body":"{\"name\":\"🌱\"}","isBase64Encoded":false}`
	if b, err := h.Invoke(t.Context(), fixture(t, httpAPI)); err != nil || string(b) != want {
		t.Errorf("error %v\n got %s\nwant %s", err, b, want)
	}
	var ctx context.Context
	b, _ := ours(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }).Invoke(t.Context(), fixture(t, httpAPI))
	if string(b) != `{"statusCode":200,"headers":{},"body":"","isBase64Encoded":false}` || ctx.Err() == nil {
		t.Errorf("without a body: %s, the context afterwards: %v", b, ctx.Err())
	}
}

// A failure is one error in the log, with the stack of a panic, unless the
// handler aborted.
func TestFailureLog(t *testing.T) {
	for _, tt := range []struct {
		fail              http.HandlerFunc
		msg, cause, stack string // of the log line, if there is one
	}{
		{func(http.ResponseWriter, *http.Request) { panic("broken") }, "panic", "broken", "TestFailureLog"},
		{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", "", ""},
		{func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte{'"'}, maxPayload/2)) }, "response failed", "Lambda's limit is 6291456", ""},
	} {
		logger, lines := logged()
		b, err := New(tt.fail, logger).Invoke(t.Context(), fixture(t, httpAPI))
		if a := decode(t, b, err); a.StatusCode != 500 {
			t.Errorf("%s: status %d, want 500", tt.msg, a.StatusCode)
		}
		got := append(lines(), map[string]any{"msg": ""})[0]
		cause, _ := got["cause"].(string)
		stack, _ := got["stack"].(string)
		if got["msg"] != tt.msg || tt.msg != "" && got["level"] != "ERROR" || !strings.Contains(cause, tt.cause) || !strings.Contains(stack, tt.stack) {
			t.Errorf("%s: log line %v", tt.msg, got)
		}
	}
}
