package lambdalocal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"example.com/plantstore/test/tools"
)

// A stub is a function that stores its event.
type stub struct {
	event    []byte
	response string
	err      error
}

const ok = `{"statusCode":200,"headers":{"Content-Type":"application/json"},"body":"[]","isBase64Encoded":false}`

// request sends a request to an HTTP API in front of s and returns the response.
func (s *stub) request(method, target, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	HTTPAPI(func(_ context.Context, payload []byte) ([]byte, error) {
		s.event = payload
		return []byte(s.response), s.err
	}).ServeHTTP(w, r)
	return w
}

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
		var event struct{ RawPath, RawQueryString string }
		json.Unmarshal(s.event, &event) // with status 400 there is no event
		if event.RawPath != want || (w.Code == 400) != (want == "") || want != "" && event.RawQueryString != "a=%3F&a=b+c&d" {
			t.Errorf("%s: %d %+v, want %q", sent, w.Code, event, want)
		}
	}
}

// An event has the members that real events have, except cookies, and no others.
func TestEvent(t *testing.T) {
	s := &stub{response: ok}
	s.request("POST", "/plants", `{"id":1}`, http.Header{
		"Content-Type": {"application/json"}, "X-Probe": {"first", "second, third"}, "User-Agent": {"test"}, "Expect": {"100-continue"},
		"Cookie": {"a=b"}, "X-Forwarded-For": {"203.0.113.7"}, "X-Forwarded-Proto": {"gopher"},
	})
	fixture, err := os.ReadFile("../../internal/lambdahttp/testdata/http-api/create.json")
	var got, want map[string]any
	if err := errors.Join(err, json.Unmarshal(s.event, &got), json.Unmarshal(fixture, &want)); err != nil {
		t.Fatal(err)
	}
	delete(want, "cookies")
	members := func(event map[string]any) []string {
		return slices.Sorted(maps.Keys(event))
	}
	inner := func(event map[string]any) []string { return members(event["requestContext"].(map[string]any)) }
	if !slices.Equal(members(got), members(want)) || !slices.Equal(inner(got), inner(want)) {
		t.Errorf("%s, want the members of %s", s.event, fixture)
	}
	headers := got["headers"].(map[string]any)
	delete(headers, "x-amzn-trace-id")
	if !maps.Equal(headers, map[string]any{
		"content-type": "application/json", "content-length": "8", "x-probe": "first,second, third", "user-agent": "test",
		"host": domainName, "x-forwarded-for": "203.0.113.7, 192.0.2.1", "x-forwarded-proto": "https", "x-forwarded-port": "443",
	}) || got["body"] != `{"id":1}` {
		t.Errorf("%s", s.event)
	}
}

// JSON is sent as it is, other bodies in base64.
func TestBodies(t *testing.T) {
	for contentType, want := range map[string]string{
		"application/json; charset=utf-8": `"body":"body"`,
		"":                                `"body":"Ym9keQ=="`, "application/octet-stream": `"body":"Ym9keQ=="`, "application/ld+json": `"body":"Ym9keQ=="`,
	} {
		s := &stub{response: ok}
		s.request("POST", "/", "body", http.Header{"Content-Type": {contentType}})
		if !strings.Contains(string(s.event), want) || strings.Contains(string(s.event), `"isBase64Encoded":true`) != strings.Contains(want, "=") {
			t.Errorf("%q: %s, want %s", contentType, s.event, want)
		}
	}
}

// A malformed response of the function, and an error, is 500.
func TestResponses(t *testing.T) {
	for _, test := range []struct {
		response string
		err      error
		status   int
		body     string
	}{
		{ok, nil, 200, "[]"},
		{`{"statusCode":200,"body":"YWI=","isBase64Encoded":true}`, nil, 200, "ab"},
		{`{"statusCode":204,"body":"x"}`, nil, 204, ""},
		{`{"statusCode":200,"body":"=","isBase64Encoded":true}`, nil, 500, ""},
		{`{"statusCode":"200"}`, nil, 500, ""},
		{`{"statusCode":100}`, nil, 500, ""},
		{`not JSON`, nil, 500, ""},
		{ok, errors.New("failed"), 500, ""},
	} {
		s := &stub{response: test.response, err: test.err}
		if w := s.request("GET", "/", "", http.Header{}); w.Code != test.status || test.status == 200 && w.Body.String() != test.body {
			t.Errorf("%s: %d %q", test.response, w.Code, w.Body)
		}
	}
}

// TestMain runs the tests, or the function if a test started this process as one.
func TestMain(m *testing.M) {
	if os.Getenv("_HANDLER") == "" {
		tools.Main(m)
	}
	if os.Getenv("INIT") == "exit" {
		os.Exit(3)
	}
	lambda.Start(func(event string) (string, error) {
		switch event {
		case "error":
			return "", errors.New("as requested")
		case "exit":
			os.Exit(4)
		case "hang":
			select {}
		}
		return event, nil
	})
}

// Each failure is an error. The process is stopped between
// invocations.
func TestEnvironment(t *testing.T) {
	for event, want := range map[string]string{
		"": "", "error": "the function failed", "exit": "Runtime.ExitError", "hang": "Sandbox.Timedout", "INIT=exit": "Runtime.ExitError",
	} {
		e, err := NewEnvironment(Options{Binary: os.Args[0], Env: []string{event}, Timeout: time.Second, Freeze: true})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		_, err = e.Invoke(t.Context(), fmt.Appendf(nil, "%q", event))
		if (err == nil) != (want == "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", event, err, want)
		}
		if event == "" && runtime.GOOS == "linux" {
			tools.Await(t, func() error {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.Cmd.Process.Pid))
				if err == nil && !strings.Contains(string(stat), ") T ") {
					err = errors.New("the process is not stopped")
				}
				return err
			})
		}
	}
}
