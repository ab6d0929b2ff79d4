package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The page and the document are served, and the service answers all other paths.
// The banner mentions the page. Package browser uses it, with any issuer.
func TestPagePaths(t *testing.T) {
	base := start(t)
	for path, want := range map[string]string{"/": "<title>Plant Store</title>", "/openapi.yaml": "openapi: 3.1", "/plants": `"error":40100`} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: %s %.200s, %v, want %s", path, resp.Status, body, err, want)
		}
	}
	var out bytes.Buffer
	banner(&out, "http://127.0.0.1:1", "a file", false)
	if want := "try it in a browser: http://127.0.0.1:1/\n"; !strings.Contains(out.String(), want) {
		t.Errorf("banner %q, want %q in it", &out, want)
	}
}
