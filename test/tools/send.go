package tools

import (
	"io"
	"net/http"
	"testing"
)

// Send sends req, follows no redirects, and returns the response with its body.
func Send(tb testing.TB, req *http.Request) (*http.Response, string) {
	tb.Helper()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp, string(body)
}
