package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// docsPage is the plain server.
var docsPage = &Front{
	Exceptions: map[string]string{"routes: /": "the plain server has its docs page there"},
	Headers:    []string{"Vary"}, // with CORS_ORIGINS
}

const (
	decodedTwice = "an HTTP API decodes a path twice: the function gets another path"
	cutOff       = "an HTTP API truncates a path at an encoded question mark: the function gets another path"
	badPath      = "an HTTP API itself rejects a path that it can't decode twice"
	noSpace      = "an HTTP API joins the values of a header with a comma but no space, and the message quotes them"
)

// httpAPI is an API Gateway HTTP API.
var httpAPI = &Front{
	Exceptions: map[string]string{
		"routes: /plants%252F1":                     decodedTwice,
		"routes: /plants%3Flimit=1":                 cutOff,
		"delete: %2531":                             decodedTwice,
		"delete: 1%252F2":                           decodedTwice,
		"delete: 1%3F":                              cutOff,
		"delete: 1%25":                              badPath,
		"create-media: Content-Type is given once.": noSpace,
	},
	Headers: []string{"Apigw-Requestid"},
}

const (
	slow      = "sam local waits for the log after each call, up to a second; TestPackage runs this part"
	slashes   = "sam local merges slashes at the start of a path"
	ownAnswer = "sam local answers this itself"
	upperCase = "sam local changes methods to upper case"
)

// samLocal is the server of sam local start-api. It adds the Content-Type of JSON
// to answers without one.
var samLocal = &Front{
	Exceptions: map[string]string{
		"create-fields": slow,
		"create-json":   slow,
		"create-key":    slow,
		"create-media":  slow,
		"list-query":    slow,
		"list-bounds":   slow,

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
	Amend: func(a *http.Response) {
		if a.StatusCode == http.StatusNoContent {
			a.Header.Del("Content-Type")
		}
	},
	Headers: []string{"Server"},
}

// findFront returns the front at a base address.
func findFront(t *testing.T, base string) *Front {
	t.Helper()
	resp, err := http.Get(base + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	switch {
	case resp.Header.Get("Apigw-Requestid") != "":
		return httpAPI
	case strings.HasPrefix(resp.Header.Get("Server"), "Werkzeug"):
		return samLocal
	case resp.StatusCode == http.StatusOK:
		return docsPage
	}
	return &Front{}
}
