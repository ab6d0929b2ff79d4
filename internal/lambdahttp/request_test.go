package lambdahttp

import (
	"fmt"
	"net/http"
	"testing"
)

// A handler sees what the event says, where the adapter would change it.
func TestRequests(t *testing.T) {
	t.Setenv("GO_API_HOST", "%zz") // from which the adapter would take the host
	path := func(r *http.Request) string { return r.URL.Path }
	query := func(r *http.Request) string { return r.URL.RawQuery }
	host := func(r *http.Request) string { return r.Host }
	header := func(name string) func(*http.Request) string {
		return func(r *http.Request) string { return fmt.Sprintf("%q", r.Header[name]) }
	}
	for _, tt := range []struct {
		event []byte
		see   func(*http.Request) string
		want  string
	}{
		{with(t, httpAPI, "rawPath", "/plants/%41?limit=1#%"), path, "/plants/%41?limit=1#%"},
		{with(t, httpAPI, "rawQueryString", "limit=2#&limit=\x7f"), query, "limit=2#&limit=\x7f"},
		{with(t, httpAPI, "rawQueryString", ""), query, ""}, // and not the parsed parameters
		{with(t, httpAPI, "requestContext/http/method", "get"), func(r *http.Request) string { return r.Method }, "get"},
		{with(t, httpAPI, "requestContext/timeEpoch", "soon"), path, "/plants"}, // of another type, unused
		{fixture(t, httpAPI), header("Accept-Language"), `["en-GB,en;q=0.9,de;q=0.8"]`},
		{fixture(t, create), header("Cookie"), `["session=abc123; theme=dark"]`},
		{fixture(t, samLocal), header("Cookie"), `["session=abc; theme=dark"]`}, // in two places
		{with(t, httpAPI, "headers/host", "%zz:1"), host, "%zz:1"},
		{fixture(t, functionURL), host, "<url-id>.lambda-url.us-west-2.on.aws"}, // without a header
		{with(t, httpAPI, "requestContext/http/sourceIp", "2001:db8::7"), func(r *http.Request) string { return r.RemoteAddr }, "[2001:db8::7]:0"},
	} {
		var got string
		b, err := ours(func(_ http.ResponseWriter, r *http.Request) { got = tt.see(r) }).Invoke(t.Context(), tt.event)
		if a := decode(t, b, err); a.StatusCode != 200 || got != tt.want {
			t.Errorf("status %d, got %s, want %s for %s", a.StatusCode, got, tt.want, tt.event)
		}
	}
}
