package lambdalocal

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// A stub is a function that stores its event.
type stub struct {
	event    []byte
	response string
	err      error
}

// request sends a request to an HTTP API in front of s and returns the response.
func (s *stub) request(method, target, body string, header http.Header) *httptest.ResponseRecorder {
	api := &HTTPAPI{Invoke: func(_ context.Context, payload []byte) ([]byte, error) {
		s.event = payload
		return []byte(s.response), s.err
	}}
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

// An event has the fields that the tests look at.
type event struct {
	Version, RouteKey, RawPath, RawQueryString, Body string

	Cookies         []string
	Headers         map[string]string
	IsBase64Encoded bool
	RequestContext  struct {
		RequestID string
		HTTP      struct{ Path string }
	}
}

func (s *stub) decode(t *testing.T) (e event) {
	t.Helper()
	if err := json.Unmarshal(s.event, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

const ok = `{"statusCode":200,"headers":{"Content-Type":"application/json"},"body":"[]","isBase64Encoded":false}`

// The paths are those published from real HTTP APIs, see newEvent.
func TestPaths(t *testing.T) {
	for sent, want := range map[string]string{
		"/capture/plain":                             "/capture/plain",
		"/capture/space%20value":                     "/capture/space value",
		"/capture/question%3Fvalue":                  "/capture/question",
		"/capture/percent%25done":                    "", // 400
		"/capture/hash%23value":                      "/capture/hash#value",
		"/capture/slash%2Fvalue":                     "/capture/slash/value",
		"/capture/unicode-%CE%BB-%E4%B8%96%E7%95%8C": "/capture/unicode-λ-世界",
		"/capture/literal%252Fvalue":                 "/capture/literal/value",
		"/capture/literal%253Fvalue":                 "/capture/literal?value",
		"/capture/literal%2525value":                 "/capture/literal%value",
		"/capture//":                                 "/capture//", // assumed
	} {
		s := &stub{response: ok}
		w := s.request("GET", sent+"?a=%3F&a=b+c&d", "", http.Header{})
		if want == "" {
			if s.event != nil || w.Code != 400 || w.Body.String() != `{"message":"Bad Request"}` {
				t.Errorf("%s: %d %s, want 400", sent, w.Code, w.Body)
			}
			continue
		}
		if e := s.decode(t); e.RawPath != want || e.RequestContext.HTTP.Path != want || e.RawQueryString != "a=%3F&a=b+c&d" {
			t.Errorf("%s: %q, %q, want %q", sent, e.RawPath, e.RawQueryString, want)
		}
	}
}

// An event has the members that real events have, and no others.
func TestEvent(t *testing.T) {
	s := &stub{response: ok}
	w := s.request("POST", "/plants", `{"id":1}`, http.Header{
		"Content-Type": {"application/json"}, "X-Probe": {"first", "second, third"}, "User-Agent": {"test"}, "Expect": {"100-continue"}, "Connection": {"close"},
		"Cookie": {"a=b; c=d", "e=f"}, "X-Forwarded-For": {"203.0.113.7"}, "X-Forwarded-Proto": {"gopher"},
	})
	fixture, err := os.ReadFile("../../internal/lambdahttp/testdata/http-api/create.json")
	var got, want map[string]any
	if err := errors.Join(err, json.Unmarshal(s.event, &got), json.Unmarshal(fixture, &want)); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{nil, {"requestContext"}, {"requestContext", "http"}} {
		a, b := got, want
		for _, name := range names {
			a, b = a[name].(map[string]any), b[name].(map[string]any)
		}
		if x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)); !slices.Equal(x, y) {
			t.Errorf("%v has %q, want %q", names, x, y)
		}
	}
	e := s.decode(t)
	if e.Version != "2.0" || e.RouteKey != "$default" || e.Body != `{"id":1}` || e.IsBase64Encoded || !slices.Equal(e.Cookies, []string{"a=b", "c=d", "e=f"}) {
		t.Errorf("%+v", e)
	}
	if id := e.RequestContext.RequestID; id == "" || w.Header().Get("Apigw-Requestid") != id {
		t.Errorf("request id %q in the event, %q in the response", id, w.Header().Get("Apigw-Requestid"))
	}
	trace := e.Headers["x-amzn-trace-id"]
	delete(e.Headers, "x-amzn-trace-id")
	if !strings.HasPrefix(trace, "Root=1-") || !maps.Equal(e.Headers, map[string]string{
		"content-type": "application/json", "content-length": "8", "x-probe": "first,second, third", "user-agent": "test",
		"host": domainName, "x-forwarded-for": "203.0.113.7, 192.0.2.1", "x-forwarded-proto": "https", "x-forwarded-port": "443",
	}) {
		t.Errorf("%v", e.Headers)
	}
}

// Bodies of text types are sent as they are, others in base64.
func TestBodies(t *testing.T) {
	for contentType, text := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "APPLICATION/JSON": true, "text/plain": true, "text/csv;x": true,
		"application/xml": true, "application/javascript": true,
		"": false, "application/x-www-form-urlencoded": false, "application/octet-stream": false, "application/ld+json": false, "x": false,
	} {
		s := &stub{response: ok}
		s.request("POST", "/", "body", http.Header{"Content-Type": {contentType}})
		want := map[bool]string{true: "body", false: "Ym9keQ=="}[text]
		if e := s.decode(t); e.Body != want || e.IsBase64Encoded == text {
			t.Errorf("%q: %q, %t", contentType, e.Body, e.IsBase64Encoded)
		}
	}
}

// A malformed response of the function is 500.
func TestResponses(t *testing.T) {
	const internalError = `{"message":"Internal Server Error"}`
	for _, test := range []struct {
		method, response string
		err              error
		status           int
		body, header     string // of the HTTP response; header is a part of it
	}{
		{"GET", ok, nil, 200, "[]", "Content-Type: application/json\r\n"},
		{"HEAD", ok, nil, 200, "", "Content-Type: application/json\r\n"},
		{"GET", `{"statusCode":200,"body":"YWI=","isBase64Encoded":true}`, nil, 200, "ab", "Content-Type: text/plain; charset=utf-8\r\n"},
		{"GET", `{"statusCode":204,"headers":{"a":"b"},"cookies":["c=d; Path=/","e=f"]}`, nil, 204, "", "A: b\r\n"},
		{"GET", `{"statusCode":204,"cookies":["c=d; Path=/","e=f"]}`, nil, 204, "", "Set-Cookie: c=d; Path=/\r\nSet-Cookie: e=f\r\n"},
		{"GET", `{"statusCode":599,"body":"x"}`, nil, 599, "x", ""},
		{"GET", `{"statusCode":200,"body":"=","isBase64Encoded":true}`, nil, 500, internalError, "Content-Type: application/json\r\n"},
		{"GET", `{"statusCode":"200"}`, nil, 500, internalError, ""},
		{"GET", `{"statusCode":100}`, nil, 500, internalError, ""},
		{"GET", `[]`, nil, 500, internalError, ""},
		{"GET", `not JSON`, nil, 500, internalError, ""},
		{"GET", "", &Error{"x", "y"}, 500, internalError, "Content-Type: application/json\r\n"},
	} {
		s := &stub{response: test.response, err: test.err}
		w := s.request(test.method, "/", "", http.Header{})
		var header strings.Builder
		w.Header().Write(&header)
		if w.Code != test.status || w.Body.String() != test.body || !strings.Contains(header.String(), test.header) {
			t.Errorf("%s %s: %d %q\n%s", test.method, test.response, w.Code, w.Body, &header)
		}
		if w.Code == 204 && w.Header().Get("Content-Type") != "" {
			t.Errorf("status 204 with Content-Type %q", w.Header().Get("Content-Type"))
		}
	}
}

// The function doesn't get requests that are too large for Lambda.
func TestTooLarge(t *testing.T) {
	for size, status := range map[int]int{maxPayload + 1: 413, maxPayload: 413, maxPayload / 2: 200} {
		s := &stub{response: ok}
		w := s.request("POST", "/", strings.Repeat("x", size), http.Header{"Content-Type": {"text/plain"}})
		if w.Code != status || (s.event == nil) != (status != 200) {
			t.Errorf("%d bytes: %d %s, want %d", size, w.Code, w.Body, status)
		}
	}
}

// The status is the function's, and the CORS headers are the API's.
func TestCORS(t *testing.T) {
	const listed = "https://a.example"
	api := &HTTPAPI{
		Invoke: func(context.Context, []byte) ([]byte, error) {
			return []byte(`{"statusCode":405,"headers":{"Allow":"GET","Access-Control-Allow-Origin":"https://evil.example"}}`), nil
		},
		CORS: &CORS{AllowOrigins: []string{listed}, AllowMethods: []string{"GET", "POST"}, ExposeHeaders: []string{"Link"}},
	}
	for _, test := range []struct{ method, origin, requestMethod, allowed, methods, exposed string }{
		{"OPTIONS", listed, "GET", listed, "GET,POST", "Link"},
		{"OPTIONS", listed, "", "", "", ""},
		{"OPTIONS", "https://b.example", "GET", "", "", ""},
		{"GET", listed, "", listed, "", "Link"},
		{"GET", "https://evil.example", "", "", "", ""},
		{"GET", "", "", "", "", ""},
	} {
		r := httptest.NewRequest(test.method, "/plants", nil)
		for name, value := range map[string]string{"Origin": test.origin, "Access-Control-Request-Method": test.requestMethod} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != http.StatusMethodNotAllowed || h.Get("Allow") != "GET" || h.Get("Access-Control-Allow-Origin") != test.allowed ||
			h.Get("Access-Control-Allow-Methods") != test.methods || h.Get("Access-Control-Expose-Headers") != test.exposed {
			t.Errorf("%+v: %d %v", test, w.Code, h)
		}
	}
}
