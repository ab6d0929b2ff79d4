package lambdahttp

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/test/tools"
)

// The parts of a response that a client sees.
func whole(a answer) string  { return fmt.Sprintf("%d %q %q", a.StatusCode, a.Headers, a.Body) }
func status(a answer) string { return fmt.Sprint(a.StatusCode) }

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
		{"status too low", "GET", func(w writer) { w.WriteHeader(0) }, status, "0", "500"},
		{"204 with a body", "DELETE", func(w writer) { w.WriteHeader(204); fmt.Fprint(w, "a") }, whole,
			`204 map["Content-Type":"text/plain; charset=utf-8"] "a"`, `204 map[] ""`},
		{"empty body", "GET", func(w writer) { w.Write(nil) }, whole,
			`200 map["Content-Type":"text/plain; charset=utf-8"] ""`, `200 map[] ""`},
		{"304 with a body", "GET", func(w writer) { w.WriteHeader(304); fmt.Fprint(w, "a") }, whole,
			`304 map["Content-Type":"text/plain; charset=utf-8"] "a"`, `304 map[] ""`},
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
		{"header of the connection", "GET", func(w writer) {
			w.Header().Set("Content-Length", "7")
			w.Header().Set("Connection", "close")
			w.WriteHeader(200)
		}, whole,
			`200 map["Connection":"close" "Content-Length":"7"] ""`, `200 map[] ""`},
		{"panic after the body", "GET", func(w writer) { fmt.Fprint(w, "half"); panic("oh") }, whole,
			"panic: oh", `500 map["Cache-Control":"no-store" "Content-Type":"application/json"] "{\"error\":50000,\"message\":\"internal error\"}\n"`},
		{"panic, HEAD", "HEAD", func(w writer) { panic("oh") }, whole,
			"panic: oh", `500 map["Cache-Control":"no-store" "Content-Type":"application/json"] ""`},
		// The adapter gets these right.
		{"not text", "GET", func(w writer) { w.Header().Set("Content-Type", "a/b"); w.Write([]byte("\xff\x00")) }, whole,
			`200 map["Content-Type":"a/b"] "\xff\x00"`, `200 map["Content-Type":"a/b"] "\xff\x00"`},
		{"several values", "GET", func(w writer) { w.Header()["Allow"] = []string{"GET, HEAD", "POST"}; w.WriteHeader(405) }, whole,
			`405 map["Allow":"GET, HEAD,POST"] ""`, `405 map["Allow":"GET, HEAD,POST"] ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := func(w http.ResponseWriter, _ *http.Request) { tt.handle(w) }
			event := with(t, httpAPI, "requestContext/http/method", tt.method)
			var got string
			printed(t, func() {
				got = outcome(bare(http.HandlerFunc(h)), event, func(b []byte) string { return tt.see(unchecked(t, b)) })
			})
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
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		w.Write([]byte(`{"name":"`))
		w.Write([]byte("\xf0\x9f"))
		w.Write([]byte("\x8c\xb1\"}")) // a character in two writes
	})
	for method, want := range map[string]string{
		"GET": `{"statusCode":201,"headers":{"Content-Type":"application/json"},"cookies":["a=1; Path=/","b=2"],` +
			`"body":"{\"name\":\"🌱\"}","isBase64Encoded":false}`,
		"DELETE": `{"statusCode":204,"headers":{},"body":"","isBase64Encoded":false}`,
	} {
		b, err := h.Invoke(t.Context(), with(t, httpAPI, "requestContext/http/method", method))
		if err != nil || string(b) != want {
			t.Errorf("%s: error %v\n got %s\nwant %s", method, err, b, want)
		}
	}
}

// JSON can't carry header values that are not UTF-8. The rest of the response
// must survive them.
func TestHeaderNotUTF8(t *testing.T) {
	h := ours(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("A", "caf\xe9")
		w.Header().Set("Set-Cookie", "a=\xe9")
	})
	b, err := h.Invoke(t.Context(), fixture(t, httpAPI))
	if a := decode(t, b, err); a.Headers["A"] != "caf\uFFFD" || !slices.Equal(a.Cookies, []string{"a=\uFFFD"}) {
		t.Errorf("%+v", a)
	}
}

// Write returns to the handler what it returns on a net/http server.
func TestWriteAsNetHTTP(t *testing.T) {
	for _, method := range []string{"GET", "HEAD"} {
		for _, status := range []int{0, 200, 204, 304, 404} {
			var wrote string
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if status != 0 {
					w.WriteHeader(status)
				}
				n, err := io.WriteString(w, "abc")
				wrote = fmt.Sprint(n, " ", err)
			})
			server := httptest.NewServer(h)
			req, _ := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
			resp, _ := tools.Send(t, req)
			server.Close()
			want := wrote
			b, err := ours(h).Invoke(t.Context(), with(t, httpAPI, "requestContext/http/method", method))
			if a := decode(t, b, err); wrote != want || a.StatusCode != resp.StatusCode {
				t.Errorf("%s, %d: %d %q, want %d %q", method, status, a.StatusCode, wrote, resp.StatusCode, want)
			}
		}
	}
}

// A failure is one error in the log, with the stack of a panic, unless the
// handler aborted. It has no effect on the next request.
func TestFailureLog(t *testing.T) {
	for _, tt := range []struct {
		name       string
		fail       http.HandlerFunc
		msg, cause string // of the log line
		stack      string
	}{
		{"panic", func(http.ResponseWriter, *http.Request) { panic("broken") }, "panic", "broken", "TestFailureLog"},
		{"abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", "", ""},
		{"too large", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte{'"'}, maxPayload/2)) },
			"response failed", "Lambda's limit is 6291456", ""},
	} {
		logger, lines := logged()
		h := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				tt.fail(w, r)
			}
		}), logger)
		b, err := h.Invoke(t.Context(), with(t, httpAPI, "requestContext/http/method", "DELETE"))
		if a := decode(t, b, err); a.StatusCode != 500 {
			t.Errorf("%s: status %d, want 500", tt.name, a.StatusCode)
		}
		b, err = h.Invoke(t.Context(), fixture(t, httpAPI))
		if a := decode(t, b, err); a.StatusCode != 200 {
			t.Errorf("after %s: status %d, want 200", tt.name, a.StatusCode)
		}
		if (len(lines()) == 1) != (tt.msg != "") {
			t.Errorf("%s: %d log lines", tt.name, len(lines()))
		}
		for _, line := range lines() {
			cause, _ := line["cause"].(string)
			stack, _ := line["stack"].(string)
			if line["level"] != "ERROR" || line["msg"] != tt.msg || !strings.Contains(cause, tt.cause) || !strings.Contains(stack, tt.stack) {
				t.Errorf("%s: log line %v", tt.name, line)
			}
		}
	}
}

// The response to a panic that handlers recovers and to one that reaches this
// package must be the same.
func TestFailureLikeService(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	event := with(t, httpAPI, "headers/authorization", "Bearer x")
	var got [2]string
	for i, h := range []http.Handler{
		handlers.New(nil, nil, log), // panics when it looks at the token
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }),
	} {
		ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "l1"})
		b, err := New(h, log).Invoke(ctx, event)
		got[i] = whole(decode(t, b, err))
	}
	if got[0] != got[1] {
		t.Errorf("handlers responds\n%s\nand this package\n%s", got[0], got[1])
	}
}
