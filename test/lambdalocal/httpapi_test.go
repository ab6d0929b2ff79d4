package lambdalocal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// stub is a function that remembers its event.
type stub struct {
	event    []byte
	response string
	err      error
}

func (s *stub) Invoke(_ context.Context, payload []byte) ([]byte, error) {
	s.event = payload
	return []byte(s.response), s.err
}

// request sends a raw request to an HTTP API in front of s, and returns the
// answer with its body.
func (s *stub) request(t *testing.T, method, target, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	front := httptest.NewServer(&HTTPAPI{Function: s})
	defer front.Close()
	req, err := http.NewRequest(method, front.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = target
	req.Header = header
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

const ok = `{"statusCode":200,"headers":{"Content-Type":"application/json"},"body":"[]","isBase64Encoded":false}`

// The paths that were seen on a real HTTP API, see event.go.
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
		"/capture//":                                 "/capture//", // seen nowhere, but nothing says otherwise
	} {
		s := &stub{response: ok}
		resp, body := s.request(t, "GET", sent+"?a=%3F&a=b+c&d", "", http.Header{})
		if want == "" {
			if s.event != nil || resp.StatusCode != 400 || body != `{"message":"Bad Request"}` {
				t.Errorf("%s: %d %s, want 400", sent, resp.StatusCode, body)
			}
			continue
		}
		var e event
		if err := json.Unmarshal(s.event, &e); err != nil {
			t.Fatal(err)
		}
		if e.RawPath != want || e.RequestContext.HTTP.Path != want || e.RawQueryString != "a=%3F&a=b+c&d" {
			t.Errorf("%s: %q, %q, want %q", sent, e.RawPath, e.RawQueryString, want)
		}
		if !maps.Equal(e.QueryStringParameters, map[string]string{"a": "?,b c", "d": ""}) {
			t.Errorf("%v", e.QueryStringParameters)
		}
	}
}

// A whole event has the members of the real ones, and no others.
func TestEvent(t *testing.T) {
	s := &stub{response: ok}
	resp, _ := s.request(t, "POST", "/plants", `{"id":1}`, http.Header{
		"Content-Type": {"application/json"}, "X-Probe": {"first", "second, third"}, "User-Agent": {"test"}, "Expect": {"100-continue"}, "Connection": {"close"},
		"Cookie": {"a=b; c=d", "e=f"}, "X-Forwarded-For": {"203.0.113.7"}, "X-Forwarded-Proto": {"gopher"}, "Latin": {"caf\xe9"},
	})
	real, err := http.Dir("../../internal/lambdahttp/testdata/http-api").Open("create.json")
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	var got, want map[string]any
	if err := errors.Join(json.Unmarshal(s.event, &got), json.NewDecoder(real).Decode(&want)); err != nil {
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
	var e event
	if err := json.Unmarshal(s.event, &e); err != nil {
		t.Fatal(err)
	}
	if e.Version != "2.0" || e.RouteKey != "$default" || e.Body != `{"id":1}` || e.IsBase64Encoded || !slices.Equal(e.Cookies, []string{"a=b", "c=d", "e=f"}) {
		t.Errorf("%+v", e)
	}
	if id := e.RequestContext.RequestID; id == "" || resp.Header.Get("Apigw-Requestid") != id {
		t.Errorf("the request id is %q in the event, %q in the answer", id, resp.Header.Get("Apigw-Requestid"))
	}
	trace := e.Headers["x-amzn-trace-id"]
	delete(e.Headers, "x-amzn-trace-id")
	if !strings.HasPrefix(trace, "Root=1-") || !maps.Equal(e.Headers, map[string]string{
		"content-type": "application/json", "content-length": "8", "x-probe": "first,second, third", "user-agent": "test", "latin": "café",
		"host": domainName, "x-forwarded-for": "203.0.113.7, 127.0.0.1", "x-forwarded-proto": "https", "x-forwarded-port": "443",
	}) {
		t.Errorf("%v", e.Headers)
	}
}

// Bodies come as they are where their type is text, and in base64 otherwise.
func TestBodies(t *testing.T) {
	for contentType, text := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "APPLICATION/JSON": true, "text/plain": true, "text/csv;x": true,
		"application/xml": true, "application/javascript": true,
		"": false, "application/x-www-form-urlencoded": false, "application/octet-stream": false, "application/ld+json": false, "x": false,
	} {
		s := &stub{response: ok}
		header := http.Header{}
		if contentType != "" {
			header.Set("Content-Type", contentType)
		}
		s.request(t, "POST", "/", "body", header)
		var e event
		if err := json.Unmarshal(s.event, &e); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "body", false: "Ym9keQ=="}[text]
		if e.Body != want || e.IsBase64Encoded == text {
			t.Errorf("%q: %q, %t", contentType, e.Body, e.IsBase64Encoded)
		}
	}
	s := &stub{response: ok}
	s.request(t, "GET", "/", "", http.Header{})
	if bytes.Contains(s.event, []byte(`"body"`)) || !bytes.Contains(s.event, []byte(`"isBase64Encoded":false`)) {
		t.Errorf("without a body: %s", s.event)
	}
}

// The function's response is the answer, and what it can't mean is 500.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		method, response string
		err              error
		status           int
		body, header     string // that the answer has
	}{
		{"GET", ok, nil, 200, "[]", "Content-Type: application/json\r\n"},
		{"HEAD", ok, nil, 200, "", "Content-Type: application/json\r\n"},
		{"GET", `{"statusCode":200,"body":"YWI=","isBase64Encoded":true}`, nil, 200, "ab", "Content-Type: text/plain; charset=utf-8\r\n"},
		{"GET", `{"statusCode":204,"headers":{"a":"b"},"cookies":["c=d; Path=/","e=f"]}`, nil, 204, "", "A: b\r\n"},
		{"GET", `{"statusCode":204,"cookies":["c=d; Path=/","e=f"]}`, nil, 204, "", "Set-Cookie: c=d; Path=/\r\nSet-Cookie: e=f\r\n"},
		{"GET", `{"statusCode":599,"body":"x"}`, nil, 599, "x", ""},
		{"GET", `{"statusCode":200,"body":"=","isBase64Encoded":true}`, nil, 500, `{"message":"Internal Server Error"}`, "Content-Type: application/json\r\n"},
		{"GET", `{"statusCode":"200"}`, nil, 500, `{"message":"Internal Server Error"}`, ""},
		{"GET", `{"statusCode":100}`, nil, 500, `{"message":"Internal Server Error"}`, ""},
		{"GET", `[]`, nil, 500, `{"message":"Internal Server Error"}`, ""},
		{"GET", `not JSON`, nil, 500, `{"message":"Internal Server Error"}`, ""},
		{"GET", "", &Error{"x", "y"}, 500, `{"message":"Internal Server Error"}`, "Content-Type: application/json\r\n"},
	} {
		s := &stub{response: test.response, err: test.err}
		resp, body := s.request(t, test.method, "/", "", http.Header{})
		var header strings.Builder
		resp.Header.Write(&header)
		if resp.StatusCode != test.status || body != test.body || !strings.Contains(header.String(), test.header) {
			t.Errorf("%s %s: %d %q\n%s", test.method, test.response, resp.StatusCode, body, &header)
		}
		if resp.StatusCode == 204 && resp.Header.Get("Content-Type") != "" {
			t.Errorf("204 with Content-Type %q", resp.Header.Get("Content-Type"))
		}
	}
}

// Requests that are too large for an HTTP API, or for Lambda, don't reach the
// function.
func TestTooLarge(t *testing.T) {
	for name, test := range map[string]struct{ size, status int }{
		"of a request": {maxBody + 1, 413}, "of an event": {maxEvent, 413}, "none": {maxEvent / 2, 200},
	} {
		s := &stub{response: ok}
		resp, body := s.request(t, "POST", "/", strings.Repeat("x", test.size), http.Header{"Content-Type": {"text/plain"}})
		if resp.StatusCode != test.status || (s.event == nil) != (test.status != 200) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
	}
}

// Start puts all of it together.
func TestStart(t *testing.T) {
	f, base := Start(t, options(t))
	resp, err := http.Get(base + "/plants")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	// The function of this package's tests returns no HTTP response.
	if resp.StatusCode != 500 || len(f.Environments()) != 1 {
		t.Errorf("%d, %d processes", resp.StatusCode, len(f.Environments()))
	}
}
