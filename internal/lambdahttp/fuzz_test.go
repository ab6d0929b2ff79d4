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
)

// FuzzInvoke sends arbitrary events to a handler that copies the request into
// its response. API Gateway must accept every response, and the handler must see
// exactly the request that the event describes.
func FuzzInvoke(f *testing.F) {
	for name := range requests {
		f.Add(fixture(f, name))
	}
	for _, event := range badEvents(f) {
		if len(event) < 1<<14 {
			f.Add(event)
		}
	}
	for _, status := range []string{"0", "99", "100", "103", "204", "304", "404", "599", "600", "-1"} {
		f.Add(with(f, create, "rawQueryString", status))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var seen *http.Request
		b, err := ours(func(w http.ResponseWriter, r *http.Request) {
			seen = r
			echo(w, r)
		}).Invoke(t.Context(), payload)
		a := decode(t, b, err)
		if seen == nil {
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d without a request", a.StatusCode)
			}
			return
		}
		checkRequest(t, seen, payload)
		if noBody := a.StatusCode == 204 || a.StatusCode == 304 || seen.Method == "HEAD"; noBody && a.Body != "" {
			t.Errorf("%s, status %d: unexpected body %q", seen.Method, a.StatusCode, a.Body)
		}
	})
}

// echo responds with the status in the query and the request's header, path and
// body.
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

// checkRequest compares a request with its event, read by another decoder.
func checkRequest(t *testing.T, r *http.Request, payload []byte) {
	t.Helper()
	var event map[string]any
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // a number may be out of float64's range
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
		t.Errorf("request target %q, URL %#v", r.RequestURI, r.URL)
	}
	if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil && !strings.ContainsAny(r.RemoteAddr, "[]") {
		t.Errorf("remote address: %v", err)
	}
	for name, values := range r.Header {
		if !isToken(name) || len(values) != 1 || strings.ContainsFunc(values[0], isControl) || strings.HasPrefix(name, "X-Golambdaproxy") {
			t.Errorf("header %q: %q", name, values)
		}
	}
}
