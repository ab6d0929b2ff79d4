package lambdahttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// What a client can see of a response.
func whole(a answer) string  { return fmt.Sprintf("%d %q %q", a.StatusCode, a.Headers, a.Body) }
func status(a answer) string { return fmt.Sprint(a.StatusCode) }

// TestResponseFaults holds each fault of the adapter against this package: the
// response (or how the invocation ends) with the adapter alone, and here.
func TestResponseFaults(t *testing.T) {
	type writer = http.ResponseWriter
	for _, tt := range []struct {
		name       string
		method     string
		handle     func(writer)
		see        func(answer) string
		bare, want string
	}{
		{"nothing written", "GET", func(w writer) {}, whole,
			"error: Error while generating proxy response: Status code not set on response", `200 map[] ""`},
		{"header alone", "GET", func(w writer) { w.Header().Set("A", "b") }, whole,
			"error: Error while generating proxy response: Status code not set on response", `200 map["A":"b"] ""`},
		{"status twice", "GET", func(w writer) { w.WriteHeader(201); w.WriteHeader(500) }, status, "500", "201"},
		{"status after the body", "GET", func(w writer) { fmt.Fprint(w, "a"); w.WriteHeader(500) }, status, "500", "200"},
		{"status of an interim answer", "GET", func(w writer) { w.WriteHeader(103) }, status, "103", "200"},
		{"interim answer first", "GET", func(w writer) { w.WriteHeader(100); w.WriteHeader(404) }, status, "404", "404"},
		{"status too high", "GET", func(w writer) { w.WriteHeader(600) }, status, "600", "500"},
		{"status too low", "GET", func(w writer) { w.WriteHeader(0) }, status, "0", "500"},
		{"204 with a body", "DELETE", func(w writer) { w.WriteHeader(204); fmt.Fprint(w, "a") }, whole,
			`204 map["Content-Type":"text/plain; charset=utf-8"] "a"`, `204 map[] ""`},
		{"204 with an empty body", "DELETE", func(w writer) { w.WriteHeader(204); w.Write(nil) }, whole,
			`204 map["Content-Type":"text/plain; charset=utf-8"] ""`, `204 map[] ""`},
		{"200 with an empty body", "GET", func(w writer) { w.Write(nil) }, whole,
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
		{"header that is none", "GET", func(w writer) { w.Header().Set("A: b\r\nC", "d"); w.WriteHeader(200) }, whole,
			`200 map["A: b\r\nC":"d"] ""`, `200 map[] ""`},
		{"header in another case", "GET", func(w writer) { w.Header()["content-type"] = []string{"a/b"}; fmt.Fprint(w, "a") }, whole,
			`200 map["Content-Type":"text/plain; charset=utf-8" "content-type":"a/b"] "a"`, `200 map["Content-Type":"a/b"] "a"`},
		{"header of the connection", "GET", func(w writer) {
			w.Header().Set("Content-Length", "7")
			w.Header().Set("Connection", "close")
			w.WriteHeader(200)
		}, whole,
			`200 map["Connection":"close" "Content-Length":"7"] ""`, `200 map[] ""`},
		{"panic", "GET", func(w writer) { panic("oh") }, status, "panic: oh", "500"},
		{"panic after the body", "GET", func(w writer) { fmt.Fprint(w, "half"); panic("oh") }, whole,
			"panic: oh", `500 map["Cache-Control":"no-store" "Content-Type":"application/json"] "{\"error\":50000,\"message\":\"internal error\"}"`},
		{"abort", "GET", func(w writer) { panic(http.ErrAbortHandler) }, status, "panic: net/http: abort Handler", "500"},
		{"larger than Lambda takes", "GET", func(w writer) { io.Copy(w, strings.NewReader(strings.Repeat("a", maxPayload))) }, status, "200", "500"},
		// Right with the adapter already, and to stay so.
		{"text", "GET", func(w writer) { fmt.Fprint(w, "{\"a\":\"é<&>\"}") }, whole,
			`200 map["Content-Type":"text/plain; charset=utf-8"] "{\"a\":\"é<&>\"}"`, `200 map["Content-Type":"text/plain; charset=utf-8"] "{\"a\":\"é<&>\"}"`},
		{"text with a control character", "GET", func(w writer) { w.Header().Set("Content-Type", "a/b"); fmt.Fprint(w, "\x01\u2028") }, whole,
			`200 map["Content-Type":"a/b"] "\x01\u2028"`, `200 map["Content-Type":"a/b"] "\x01\u2028"`},
		{"not text", "GET", func(w writer) { w.Header().Set("Content-Type", "a/b"); w.Write([]byte("\xff\x00")) }, whole,
			`200 map["Content-Type":"a/b"] "\xff\x00"`, `200 map["Content-Type":"a/b"] "\xff\x00"`},
		{"values joined", "GET", func(w writer) { w.Header()["Allow"] = []string{"GET, HEAD", "POST"}; w.WriteHeader(405) }, whole,
			`405 map["Allow":"GET, HEAD,POST"] ""`, `405 map["Allow":"GET, HEAD,POST"] ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tt.handle(w) })
			event := with(t, httpAPI, "requestContext/http/method", tt.method)
			var got string
			printed(t, func() {
				got = outcome(bare(h), event, func(b []byte) string { return tt.see(unchecked(t, b)) })
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

// unchecked returns the adapter's own response, whatever is wrong with it.
func unchecked(t *testing.T, b []byte) (a answer) {
	t.Helper()
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	if a.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		a.Body = string(body)
	}
	return a
}

// TestFormat holds the bytes of a response against the format's description.
func TestFormat(t *testing.T) {
	h := ours(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		w.Write([]byte(`{"name":"`))
		w.Write([]byte("\xf0\x9f"))
		w.Write([]byte("\x8c\xb1\"}")) // a character in two writes
	}))
	b, err := h.Invoke(t.Context(), fixture(t, httpAPI))
	const want = `{"statusCode":201,"headers":{"Content-Type":"application/json"},"cookies":["a=1; Path=/","b=2"],` +
		`"body":"{\"name\":\"🌱\"}","isBase64Encoded":false}`
	if err != nil || string(b) != want {
		t.Errorf("error %v\n got %s\nwant %s", err, b, want)
	}
	b, err = ours(standIn(204, "")).Invoke(t.Context(), fixture(t, httpAPI))
	if string(b) != `{"statusCode":204,"headers":{},"body":"","isBase64Encoded":false}` || err != nil {
		t.Errorf("error %v\n got %s", err, b)
	}
}

// A header in another encoding than UTF-8 must not cost the answer.
func TestHeaderNotUTF8(t *testing.T) {
	h := ours(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("A", "caf\xe9")
		w.Header().Set("Set-Cookie", "a=\xe9")
	}))
	b, err := h.Invoke(t.Context(), fixture(t, httpAPI))
	if a := decode(t, b, err); a.Headers["A"] != "caf\uFFFD" || !reflect.DeepEqual(a.Cookies, []string{"a=\uFFFD"}) {
		t.Errorf("%+v", a)
	}
}

// What a handler's writes return is what they return on a server.
func TestWrites(t *testing.T) {
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
			resp, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			server.Close()
			want := wrote
			b, err := ours(h).Invoke(t.Context(), with(t, httpAPI, "requestContext/http/method", method))
			if a := decode(t, b, err); wrote != want || a.StatusCode != resp.StatusCode {
				t.Errorf("%s, %d: %d %q, want %d %q", method, status, a.StatusCode, wrote, resp.StatusCode, want)
			}
		}
	}
}

func TestFailure(t *testing.T) {
	broken := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })
	for _, tt := range []struct {
		name   string
		o      Options
		event  []byte
		body   string
		panics int
	}{
		{"handler", Options{Failure: standIn(500, "failed")}, fixture(t, httpAPI), "failed", 1},
		{"handler, no Failure", Options{}, fixture(t, httpAPI), `{"error":50000,"message":"internal error"}`, 1},
		{"handler and Failure", Options{Failure: broken}, fixture(t, httpAPI), `{"error":50000,"message":"internal error"}`, 2},
		{"BadEvent", Options{BadEvent: broken, Failure: standIn(500, "failed")}, []byte("{}"), "failed", 1},
		{"BadEvent and Failure", Options{BadEvent: broken, Failure: broken}, []byte("{}"), `{"error":50000,"message":"internal error"}`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines func() []map[string]any
			tt.o.Logger, lines = logged()
			b, err := New(broken, tt.o).Invoke(t.Context(), tt.event)
			if a := decode(t, b, err); a.StatusCode != 500 || a.Body != tt.body {
				t.Errorf("%d %s, want 500 %s", a.StatusCode, a.Body, tt.body)
			}
			panics := 0
			for _, line := range lines() {
				if line["msg"] != "panic" {
					continue
				}
				panics++
				stack, _ := line["stack"].(string)
				if line["level"] != "ERROR" || line["cause"] != "broken" || !strings.Contains(stack, "TestFailure") {
					t.Errorf("line %v", line)
				}
			}
			if panics != tt.panics {
				t.Errorf("%d lines of a panic, want %d", panics, tt.panics)
			}
		})
	}
}

// After a failure the next request is answered as if nothing had happened.
func TestAfterFailure(t *testing.T) {
	h := ours(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			panic("oh")
		}
		fmt.Fprint(w, r.Method)
	}))
	for range 3 {
		b, err := h.Invoke(t.Context(), fixture(t, "http-api/delete.json"))
		if a := decode(t, b, err); a.StatusCode != 500 {
			t.Errorf("status %d, want 500", a.StatusCode)
		}
		b, err = h.Invoke(t.Context(), fixture(t, httpAPI))
		if a := decode(t, b, err); a.StatusCode != 200 || a.Body != "GET" {
			t.Errorf("%d %s, want 200 GET", a.StatusCode, a.Body)
		}
	}
}

// A handler that aborts wants no line; an answer too large has one.
func TestFailureLog(t *testing.T) {
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		want   int
	}{
		{"abort", func(http.ResponseWriter, *http.Request) { panic(fmt.Errorf("gone: %w", http.ErrAbortHandler)) }, 0},
		{"too large", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte{'"'}, maxPayload/2)) }, 1},
	} {
		logger, lines := logged()
		b, err := New(tt.handle, Options{Logger: logger}).Invoke(context.Background(), fixture(t, httpAPI))
		if a := decode(t, b, err); a.StatusCode != 500 || len(lines()) != tt.want {
			t.Errorf("%s: status %d, log %v", tt.name, a.StatusCode, lines())
		}
		for _, line := range lines() {
			if line["level"] != "ERROR" {
				t.Errorf("%s: line %v", tt.name, line)
			}
		}
	}
}
