package e2e

import (
	"net/http"
	"testing"
)

// These are the exceptions of the plain server.
var docsPage = map[string]string{
	"routes: /": "the plain server has its docs page there",
}

const (
	decodedTwice = "an HTTP API decodes a path twice: the function gets another path"
	cutOff       = "an HTTP API truncates a path at an encoded question mark: the function gets another path"
	badPath      = "an HTTP API itself rejects a path that it can't decode twice"
	noSpace      = "an HTTP API joins the values of a header with a comma but no space, and the message quotes them"
)

// These are the exceptions of an API Gateway HTTP API.
var httpAPI = map[string]string{
	"routes: /plants%252F1":                     decodedTwice,
	"routes: /plants%3Flimit=1":                 cutOff,
	"delete: %2531":                             decodedTwice,
	"delete: 1%252F2":                           decodedTwice,
	"delete: 1%3F":                              cutOff,
	"delete: 1%25":                              badPath,
	"create-media: Content-Type is given once.": noSpace,
}

// exceptions returns the exceptions of the front at a base address.
func exceptions(t *testing.T, base string) map[string]string {
	t.Helper()
	resp, err := http.Get(base + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	switch {
	case resp.Header.Get("Apigw-Requestid") != "":
		return httpAPI
	case resp.StatusCode == http.StatusOK:
		return docsPage
	}
	return map[string]string{}
}
