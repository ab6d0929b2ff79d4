package lambdahttp

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzInvoke sends arbitrary events to a handler that answers with whatever the
// request has. Whatever comes in, API Gateway must be able to take what comes
// out, and a handler sees a sound request of exactly what the event says.
func FuzzInvoke(f *testing.F) {
	for _, dir := range []string{"http-api", "function-url", "sam-local", "aws-lambda-go"} {
		for _, event := range fixtures(f, dir) {
			f.Add(event)
		}
	}
	for _, event := range oddEvents(f) {
		if len(event) < 1<<14 {
			f.Add(event)
		}
	}
	for _, status := range []string{"0", "99", "100", "103", "204", "304", "404", "599", "600", "-1"} {
		f.Add(with(f, create, "rawQueryString", status))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var seen *http.Request
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = r
			echo(w, r)
		})
		b, err := ours(h).Invoke(t.Context(), payload)
		a := decode(t, b, err)
		if seen == nil {
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d, but no request", a.StatusCode)
			}
			return
		}
		checkRequest(t, seen, payload)
		noBody := a.StatusCode == 204 || a.StatusCode == 304 || seen.Method == "HEAD" && a.StatusCode != 500
		if noBody && a.Body != "" {
			t.Errorf("%s, %d with a body: %q", seen.Method, a.StatusCode, a.Body)
		}
	})
}

// echo answers with the status that the query is, and the request's own header,
// path and body.
func echo(w http.ResponseWriter, r *http.Request) {
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	w.Header()[r.URL.Path] = []string{r.URL.RawQuery}
	w.Header().Add("Set-Cookie", r.URL.Path)
	if status, err := strconv.Atoi(r.URL.RawQuery); err == nil {
		w.WriteHeader(status)
	}
	io.Copy(w, r.Body)
}

// checkRequest holds a request against its event, as another decoder reads it.
func checkRequest(t *testing.T, r *http.Request, payload []byte) {
	t.Helper()
	var event map[string]any
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // of any size: the service need not read them
	if err := d.Decode(&event); err != nil {
		t.Fatal(err)
	}
	field := func(from any, name string) any {
		object, _ := from.(map[string]any)
		return object[name]
	}
	context := field(event, "requestContext")
	if r.Method != field(field(context, "http"), "method") {
		t.Errorf("method %q", r.Method)
	}
	if query, _ := event["rawQueryString"].(string); r.URL.RawQuery != query {
		t.Errorf("query %q, want %q", r.URL.RawQuery, query)
	}
	path := event["rawPath"].(string)
	if domain, _ := field(context, "domainName").(string); strings.Contains(domain, ".lambda-url.") {
		path, _ = url.PathUnescape(path)
	}
	if r.URL.Path != path {
		t.Errorf("path %q, want %q", r.URL.Path, path)
	}
	if !strings.HasPrefix(r.RequestURI, "/") || r.URL.Scheme != "" || r.URL.Host != "" || r.URL.Fragment != "" || r.URL.User != nil {
		t.Errorf("target %q, URL %#v", r.RequestURI, r.URL)
	}
	if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil && !strings.ContainsAny(r.RemoteAddr, "[]") {
		t.Errorf("address: %v", err)
	}
	for name, values := range r.Header {
		if !isToken(name) || len(values) != 1 || strings.ContainsFunc(values[0], isControl) || strings.HasPrefix(name, "X-Golambdaproxy") {
			t.Errorf("header %q: %q", name, values)
		}
	}
}

// FuzzTarget sends a path and a query through each front: the handler sees what
// the client meant.
func FuzzTarget(f *testing.F) {
	for _, target := range []string{"/", "/plants", "//", "/%", "/%41", "/%2541", "/a?b#c", "/é\x00\n", "/*", "/a b+c", "/;:@&=$,!'()[]"} {
		f.Add(target, "limit=1")
		f.Add("/plants", target)
	}
	httpEvent, urlEvent := fixture(f, httpAPI), fixture(f, functionURL)
	f.Fuzz(func(t *testing.T, path, query string) {
		path = "/" + path
		if !utf8.ValidString(path) || !utf8.ValidString(query) {
			return // JSON can't carry it
		}
		written := (&url.URL{Path: path}).EscapedPath()
		for _, event := range [][]byte{set(t, httpEvent, "rawPath", path), set(t, urlEvent, "rawPath", written)} {
			var seen *http.Request
			h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })
			b, err := ours(h).Invoke(t.Context(), set(t, event, "rawQueryString", query))
			decode(t, b, err)
			if seen == nil {
				t.Fatalf("%q %q: no request", path, query)
			}
			if seen.URL.Path != path || seen.URL.RawQuery != query {
				t.Errorf("%q %q, want %q %q", seen.URL.Path, seen.URL.RawQuery, path, query)
			}
			if query == "" && seen.RequestURI != written || query != "" && seen.RequestURI != written+"?"+query {
				t.Errorf("target %q, want %q and %q", seen.RequestURI, written, query)
			}
		}
	})
}
