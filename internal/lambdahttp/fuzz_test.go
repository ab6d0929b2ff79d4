package lambdahttp

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzInvoke sends arbitrary events to a handler that copies the request into its
// response. API Gateway must accept every response, and the handler must see the
// request that the event describes.
func FuzzInvoke(f *testing.F) {
	for _, name := range []string{httpAPI, create, functionURL, samLocal} {
		f.Add(fixture(f, name))
	}
	for _, event := range badEvents(f) {
		f.Add(event)
	}
	for _, status := range []string{"-1", "103", "204", "404"} {
		f.Add(with(f, create, "rawQueryString", status))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var seen *http.Request
		a := invoke(t, ours(func(w http.ResponseWriter, r *http.Request) {
			seen = r
			echo(w, r)
		}), payload)
		if seen == nil {
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d without a request", a.StatusCode)
			}
			return
		}
		var e event
		json.Unmarshal(payload, &e) // valid
		isURL := strings.Contains(e.RequestContext.DomainName, ".lambda-url.")
		if seen.Method != e.RequestContext.HTTP.Method || seen.URL.RawQuery != e.RawQueryString || seen.URL.Path != e.RawPath && !isURL {
			t.Errorf("the handler sees %s %s", seen.Method, seen.URL)
		}
		if noBody := a.StatusCode == 204 || seen.Method == "HEAD"; noBody && a.Body != "" {
			t.Errorf("%s, status %d: unexpected body %q", seen.Method, a.StatusCode, a.Body)
		}
	})
}

// echo responds with the status in the query, and the request's header and body.
func echo(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), r.Header)
	if status, err := strconv.Atoi(r.URL.RawQuery); err == nil && status < 600 {
		w.WriteHeader(status)
	}
	io.Copy(w, r.Body)
}
