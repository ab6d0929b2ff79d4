package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/openapi"
)

// A front is what receives a client's requests to the service. It describes where
// its answers differ from the service's own.
type front struct {
	exceptions map[string]string                // see Target.Exceptions
	amend      func(*http.Response)             // see Target.Amend
	headers    []string                         // added to each answer
	rewrites   func(*http.Request) bool         // reports whether the service gets another method or path; may be nil
	answered   func(toRoot *http.Response) bool // reports whether it sent this answer to GET /
}

// fronts lists the known fronts.
var fronts = []*front{httpAPI, samLocal, docsPage, {answered: func(*http.Response) bool { return true }}}

// docsPage is the plain server.
var docsPage = &front{
	exceptions: map[string]string{"routes: /": "the plain server has its docs page there"},
	headers:    []string{"Vary"}, // with CORS_ORIGINS
	answered:   func(a *http.Response) bool { return a.StatusCode == http.StatusOK },
}

const (
	decodedTwice = "an HTTP API decodes a path twice: the function gets another path"
	cutOff       = "an HTTP API truncates a path at an encoded question mark: the function gets another path"
	badPath      = "an HTTP API itself rejects a path that it can't decode twice"
	noSpace      = "an HTTP API joins the values of a header with a comma but no space, and the message quotes them"
)

// httpAPI is an API Gateway HTTP API.
var httpAPI = &front{
	exceptions: map[string]string{
		"routes: /plants%252F1":                     decodedTwice,
		"routes: /plants%3Flimit=1":                 cutOff,
		"delete: %2531":                             decodedTwice,
		"delete: 1%252F2":                           decodedTwice,
		"delete: 1%3F":                              cutOff,
		"delete: 1%25":                              badPath,
		"create-media: Content-Type is given once.": noSpace,
	},
	headers:  []string{"Apigw-Requestid"},
	rewrites: func(r *http.Request) bool { return strings.ContainsAny(r.URL.Path, "%?") },
	answered: func(a *http.Response) bool { return a.Header.Get("Apigw-Requestid") != "" },
}

const (
	slow      = "sam local waits for the log after each call, up to a second; TestLambda runs this part"
	slashes   = "sam local merges slashes at the start of a path"
	ownAnswer = "sam local answers this itself"
	upperCase = "sam local changes methods to upper case"
)

// samLocal is the server of sam local start-api. It adds the Content-Type of JSON
// to answers without one.
var samLocal = &front{
	exceptions: map[string]string{
		"create-fields": slow,
		"create-json":   slow,
		"create-key":    slow,
		"create-media":  slow,
		"list-query":    slow,
		"long-list":     slow,

		"routes: //plants":         slashes,
		"routes: /%2Fplants":       slashes,
		"routes: OPTIONS":          ownAnswer,
		"routes: TRACE":            ownAnswer,
		"routes: PLANT":            ownAnswer,
		"routes: TRACE /plants/1":  ownAnswer,
		"routes: get":              upperCase,
		"routes: delete /plants/1": upperCase,
		"delete: 1%0A":             ownAnswer,
		"cors":                     ownAnswer,
		"routes: The answer to OPTIONS lists the methods of the path.":                      ownAnswer,
		"routes: A token is not needed: browsers send CORS preflight requests without one.": ownAnswer,
	},
	amend: func(a *http.Response) {
		if a.StatusCode == http.StatusNoContent {
			a.Header.Del("Content-Type")
		}
	},
	headers: []string{"Server"},
	rewrites: func(r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "//") || r.Method != strings.ToUpper(r.Method)
	},
	answered: func(a *http.Response) bool { return strings.HasPrefix(a.Header.Get("Server"), "Werkzeug") },
}

// findFront returns the front at a base address.
func findFront(t *testing.T, base string) *front {
	t.Helper()
	resp, err := http.Get(base + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return fronts[slices.IndexFunc(fronts, func(f *front) bool { return f.answered(resp) })]
}

// target returns a Target behind the front.
func (f *front) target(base string, token func(testing.TB, TokenRequest) string) Target {
	return Target{Base: base, Token: token, Exceptions: f.exceptions, Amend: f.amend, Check: f.check()}
}

// check returns a function for [Target.Check] that finds exchanges which
// contradict the OpenAPI document: an undocumented status, header or member, or a
// request that is accepted but invalid, or rejected but valid. It skips requests
// that the front rewrites.
func (f *front) check() func(*http.Request, []byte, *http.Response, []byte) error {
	doc := openapi.Read()
	return func(r *http.Request, body []byte, answer *http.Response, answerBody []byte) error {
		if r.URL == nil || f.rewrites != nil && f.rewrites(r) {
			return nil
		}
		if err := doc.Validate(r, body, answer, answerBody); err != nil {
			return fmt.Errorf("%w\nIf the service is right, document this exchange in api/openapi.yaml:", err)
		}
		return nil
	}
}

// Exchanges are compared with the OpenAPI document, unless the front passes on
// another request.
func TestDocumented(t *testing.T) {
	const gone = `{"error":41000,"message":"x"}` + "\n"
	c := stub(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Apigw-Requestid", "x")
		respond(410, gone)(w)
	})
	if front := findFront(t, c.Base); front != httpAPI {
		t.Fatalf("taken for another front: %v", front.exceptions)
	}
	c.Check = httpAPI.check()
	for target, want := range map[string]string{"/plants/1": "document this exchange in api/openapi.yaml", "/plants/1%3F": ""} {
		_, err := c.send(t, request{method: "DELETE", target: target, headers: bearer("x")})
		checkErr(t, target, err, want)
	}
}
