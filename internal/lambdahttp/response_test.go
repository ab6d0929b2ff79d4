package lambdahttp

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The parts of a response that a client sees.
func whole(a answer) string  { return fmt.Sprintf("%d %q %q", a.StatusCode, a.Headers, a.Body) }
func status(a answer) string { return fmt.Sprint(a.StatusCode) }

// ownHeaders are the headers of this package's own responses.
const ownHeaders = `map["Cache-Control":"no-store" "Content-Type":"application/json" "X-Content-Type-Options":"nosniff"]`

// TestResponseFaults shows each fault of the adapter in converting responses:
// the response, or how the invocation ends, with the adapter alone and with this
// package.
func TestResponseFaults(t *testing.T) {
	type writer = http.ResponseWriter
	for _, tt := range []struct {
		name       string
		method     string
		handle     func(writer)
		see        func(answer) string
		bare, want string
	}{
		{"no status", "GET", func(w writer) { w.Header().Set("A", "b") }, whole,
			"error: Error while generating proxy response: Status code not set on response", `200 map["A":"b"] ""`},
		{"status twice", "GET", func(w writer) { w.WriteHeader(201); w.WriteHeader(500) }, status, "500", "201"},
		{"informational status", "GET", func(w writer) { w.WriteHeader(103) }, status, "103", "200"},
		{"status too high", "GET", func(w writer) { w.WriteHeader(600) }, status, "600", "500"},
		{"204 with a body", "DELETE", func(w writer) { w.WriteHeader(204); fmt.Fprint(w, "a") }, whole,
			`204 map["Content-Type":"text/plain; charset=utf-8"] "a"`, `204 map[] ""`},
		{"empty body", "GET", func(w writer) { w.Write(nil) }, whole,
			`200 map["Content-Type":"text/plain; charset=utf-8"] ""`, `200 map[] ""`},
		{"HEAD with a body", "HEAD", func(w writer) { w.Header().Set("Content-Type", "a/b"); fmt.Fprint(w, "a") }, whole,
			`200 map["Content-Type":"a/b"] "a"`, `200 map["Content-Type":"a/b"] ""`},
		{"header after the status", "GET", func(w writer) { w.WriteHeader(200); w.Header().Set("A", "b") }, whole,
			`200 map["A":"b"] ""`, `200 map[] ""`},
		{"header without a value", "GET", func(w writer) { w.Header()["Date"] = nil; w.WriteHeader(200) }, whole,
			`200 map["Date":""] ""`, `200 map[] ""`},
		{"header with a line break", "GET", func(w writer) { w.Header().Set("A", "b\r\nC: d\x00"); w.WriteHeader(200) }, whole,
			`200 map["A":"b\r\nC: d\x00"] ""`, `200 map["A":"b  C: d "] ""`},
		{"invalid header name", "GET", func(w writer) { w.Header().Set("A: b\r\nC", "d"); w.WriteHeader(200) }, whole,
			`200 map["A: b\r\nC":"d"] ""`, `200 map[] ""`},
		{"header name in lower case", "GET", func(w writer) { w.Header()["content-type"] = []string{"a/b"}; fmt.Fprint(w, "a") }, whole,
			`200 map["Content-Type":"text/plain; charset=utf-8" "content-type":"a/b"] "a"`, `200 map["Content-Type":"a/b"] "a"`},
		{"header that is not UTF-8", "GET", func(w writer) { w.Header().Set("A", "caf\xe9"); w.WriteHeader(200) }, whole,
			`200 map["A":"caf�"] ""`, `200 map["A":"caf�"] ""`},
		{"header of the connection", "GET", func(w writer) {
			w.Header().Set("Content-Length", "7")
			w.Header().Set("Connection", "close")
			w.WriteHeader(200)
		}, whole,
			`200 map["Connection":"close" "Content-Length":"7"] ""`, `200 map[] ""`},
		{"panic after the body", "GET", func(w writer) { fmt.Fprint(w, "half"); panic("oh") }, whole,
			"panic: oh", `500 ` + ownHeaders + ` "{\"error\":50000,\"message\":\"internal error\"}\n"`},
		{"panic, HEAD", "HEAD", func(w writer) { panic("oh") }, whole,
			"panic: oh", `500 ` + ownHeaders + ` ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := func(w http.ResponseWriter, _ *http.Request) { tt.handle(w) }
			event := with(t, httpAPI, "requestContext/http/method", tt.method)
			got := outcome(bare(http.HandlerFunc(h)), event, func(b []byte) string { return tt.see(unchecked(t, b)) })
			if got != tt.bare {
				t.Errorf("the adapter alone:\n got %.200s\nwant %s", got, tt.bare)
			}
			got = outcome(ours(h), event, func(b []byte) string { return tt.see(decode(t, b, nil)) })
			if got != tt.want {
				t.Errorf("got %.200s\nwant %s", got, tt.want)
			}
		})
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
