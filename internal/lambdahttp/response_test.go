package lambdahttp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"example.com/plantstore/internal/handlers"
)

// whole describes a response.
func whole(a events.APIGatewayV2HTTPResponse) string {
	return fmt.Sprintf("%d %q %q", a.StatusCode, a.Headers, a.Body)
}

// ownHeaders are the headers of the responses that the service doesn't send.
const ownHeaders = `map["Cache-Control":"no-store" "Content-Type":"application/json" "X-Content-Type-Options":"nosniff" "X-Request-Id":"l1"]`

// Clients get what net/http would send even where the adapter or API Gateway would differ.
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
		"204 with a body":      {"DELETE", func(w writer) { w.WriteHeader(204); fmt.Fprint(w, "a") }, `204 map[] ""`},
		"304 with a body":      {"GET", func(w writer) { w.WriteHeader(304); fmt.Fprint(w, "a") }, `304 map[] ""`},
		"empty body":           {"GET", func(w writer) { w.Write(nil) }, `200 map[] ""`},
		"HEAD with a body":     {"HEAD", func(w writer) { w.Header().Set("Content-Type", "a/b"); fmt.Fprint(w, "a") }, `200 map["Content-Type":"a/b"] ""`},
		"header not UTF-8":     {"GET", func(w writer) { w.Header().Set("A", "caf\xe9") }, `200 map["A":"caf�"] ""`},
		"panic":                {"GET", func(w writer) { fmt.Fprint(w, "half"); panic("oh") }, `500 ` + ownHeaders + ` "{\"error\":50000,\"message\":\"internal error; retry, and report the X-Request-Id\"}\n"`},
		"panic, HEAD":          {"HEAD", func(w writer) { fmt.Fprint(w, "half"); panic("oh") }, `500 ` + ownHeaders + ` ""`},
	} {
		h := ours(func(w http.ResponseWriter, _ *http.Request) { tt.handle(w) })
		if got := whole(invoke(t, h, with(t, httpAPI, "requestContext/http/method", tt.method))); got != tt.want {
			t.Errorf("%s:\n got %.200s\nwant %s", name, got, tt.want)
		}
	}
}

// As in net/http, the handler learns whether a body isn't allowed. It doesn't learn that the
// client wants none.
func TestWriteErrors(t *testing.T) {
	for _, tt := range []struct {
		method string
		status int
		want   error
	}{
		{"GET", 200, nil},
		{"GET", 204, http.ErrBodyNotAllowed},
		{"GET", 304, http.ErrBodyNotAllowed},
		{"HEAD", 200, nil},
	} {
		var err error
		h := ours(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, err = w.Write([]byte("a"))
		})
		invoke(t, h, with(t, httpAPI, "requestContext/http/method", tt.method))
		if err != tt.want {
			t.Errorf("%s, status %d: Write returns %v, want %v", tt.method, tt.status, err, tt.want)
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
	const want = `{"statusCode":201,"headers":{"Content-Type":"application/json"},"multiValueHeaders":{},` +
		`"body":"{\"name\":\"🌱\"}","isBase64Encoded":false,"cookies":["a=1; Path=/","b=2"]}`
	if b, err := h.Invoke(t.Context(), fixture(t, httpAPI)); err != nil || string(b) != want {
		t.Errorf("error %v\n got %s\nwant %s", err, b, want)
	}
}

// A panic is logged as one error, with its stack.
func TestPanicLog(t *testing.T) {
	logger, lines := logged()
	New(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }), handlers.SendError, logger).Invoke(t.Context(), fixture(t, httpAPI))
	if l := lines(); len(l) != 1 || l[0]["level"] != "ERROR" || l[0]["cause"] != "broken" || !strings.Contains(l[0]["stack"].(string), "TestPanicLog") {
		t.Errorf("log %v, want one error with the stack", l)
	}
}
