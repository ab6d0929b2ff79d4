package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/test/openapi"
)

// An observer is shown exchanges, as [Target] has it.
type observer = func(testing.TB, *http.Request, []byte, *http.Response, []byte)

// documented returns an observer that reports each exchange which the OpenAPI
// document doesn't have: an undocumented status, header or member, a request
// that it forbids and that was accepted, one that it allows and that was
// refused.
func documented() observer {
	return documentedIf(func(*url.URL) bool { return true })
}

// documentedBehindHTTPAPI is the same for what stands behind an HTTP API. That
// adds a header to answers. It also decodes a path twice and cuts it off at a
// question mark: then the function answers another request than was sent, and
// what is left to be held to the document is the answer.
func documentedBehindHTTPAPI() observer {
	return documentedIf(func(u *url.URL) bool { return !strings.ContainsAny(u.Path, "%?") }, "Apigw-Requestid")
}

// documentedIf holds the answer to the document, and the request, too, if it is
// known to be the one that was answered.
func documentedIf(known func(*url.URL) bool, frontHeaders ...string) observer {
	doc, err := openapi.Parse(api.Document)
	if err == nil {
		doc.FrontHeaders = frontHeaders
	}
	return func(tb testing.TB, r *http.Request, body []byte, answer *http.Response, answerBody []byte) {
		tb.Helper()
		fault := err
		if fault == nil {
			seen := *r
			if seen.URL != nil && !known(seen.URL) {
				seen.URL = nil
			}
			fault = doc.Validate(&seen, body, answer, answerBody)
		}
		if fault != nil {
			tb.Errorf("api/openapi.yaml: %v\n> %s %v\n> %.300q\n< %s\n< %.300q", fault, r.Method, r.URL, body, answer.Status, answerBody)
		}
	}
}

// A recorder is a test that notes what is reported to it.
type recorder struct {
	testing.TB
	reports []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

// Whatever the suite is content with, the document is held against it.
func TestDocumented(t *testing.T) {
	notFound := fault(404, `{"error":40400,"message":"x"}`+"\n")
	for _, test := range []struct {
		title, method, target string
		answer                func(http.ResponseWriter)
		want                  string // the report, "" for none
	}{
		{"all right", "DELETE", "/plants/1", notFound, ""},
		{"header of the front", "DELETE", "/plants/1", with("Apigw-Requestid", notFound), ""},
		{"header", "DELETE", "/plants/1", with("X-Powered-By", notFound), "no header X-Powered-By"},
		{"status", "DELETE", "/plants/1", fault(410, `{"error":41000,"message":"x"}`+"\n"), "no status 410"},
		{"error", "GET", "/plants", fault(400, `{"error":40099,"message":"x"}`+"\n"), "/error"},
		{"member", "GET", "/plants?include=id", fault(200, `[{"id":1,"name":"x","owner":"y"}]`+"\n"), "owner"},
		{"accepted", "GET", "/plants?limit=0", fault(200, "[]\n"), "was accepted"},
		{"refused", "GET", "/plants?limit=1", fault(400, `{"error":40006,"message":"x"}`+"\n"), "was refused"},
		{"answer to another path", "GET", "/plants%3Flimit=0", fault(400, `{"error":40006,"message":"x"}`+"\n"), ""},
		{"no answer to any path", "GET", "/plants%3Flimit=0", fault(400, `{"error":40099,"message":"x"}`+"\n"), "/error"},
	} {
		t.Run(test.title, func(t *testing.T) {
			c := stub(t, func(w http.ResponseWriter, _ *http.Request) { test.answer(w) })
			c.Observe = documentedBehindHTTPAPI()
			r := &recorder{TB: t}
			headers := []string{"Authorization: Bearer x"}
			if _, err := c.send(r, request{method: test.method, target: test.target, headers: headers}); err != nil {
				t.Fatal(err)
			}
			if test.want == "" && len(r.reports) > 0 {
				t.Errorf("reported: %q", r.reports)
			}
			if test.want != "" && (len(r.reports) != 1 || !strings.Contains(r.reports[0], test.want)) {
				t.Errorf("reported: %q, want %s", r.reports, test.want)
			}
		})
	}
}

// with adds a header to an answer.
func with(name string, answer func(http.ResponseWriter)) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set(name, "x")
		answer(w)
	}
}
