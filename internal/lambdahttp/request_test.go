package lambdahttp

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// The parts of a request that a handler sees.
func method(r *http.Request) string  { return r.Method }
func path(r *http.Request) string    { return r.URL.Path }
func query(r *http.Request) string   { return r.URL.RawQuery }
func urlHost(r *http.Request) string { return r.URL.Scheme + "//" + r.URL.Host }
func host(r *http.Request) string    { return r.Host }
func remote(r *http.Request) string  { return r.RemoteAddr }
func header(name string) func(*http.Request) string {
	return func(r *http.Request) string { return fmt.Sprintf("%q", r.Header[name]) }
}

// TestRequestFaults shows each fault of the adapter in converting requests: what
// the handler sees, or how the invocation ends, with the adapter alone and with
// this package.
func TestRequestFaults(t *testing.T) {
	const apiHost = "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"
	const noRequest = `error: Could not convert proxy event to request: parse "https://`
	for _, tt := range []struct {
		name       string
		event      []byte
		see        func(*http.Request) string
		bare, want string
	}{
		{"path: percent sign", with(t, httpAPI, "rawPath", "/plants/100%"), path,
			noRequest + apiHost + `/plants/100%?limit=2&include=id": invalid URL escape "%"`, "/plants/100%"},
		{"path: decoded twice", with(t, httpAPI, "rawPath", "/plants/%41"), path, "/plants/A", "/plants/%41"},
		{"path: question mark", with(t, httpAPI, "rawPath", "/plants?limit=1"), query, "limit=1?limit=2&include=id", "limit=2&include=id"},
		{"path: hash", with(t, httpAPI, "rawPath", "/plants#"), query, "", "limit=2&include=id"},
		{"query: hash", with(t, httpAPI, "rawQueryString", "limit=2#&limit=3"), query, "limit=2", "limit=2#&limit=3"},
		{"query: control character", with(t, httpAPI, "rawQueryString", "limit=\x7f"), query,
			noRequest + apiHost + `/plants?limit=\x7f": net/url: invalid control character in URL`, "limit=\x7f"},
		{"query: from the parameters", with(t, httpAPI, "rawQueryString", ""), query, "include=id&limit=2", ""},
		{"method: capitals", with(t, httpAPI, "requestContext/http/method", "get"), method, "GET", "get"},
		{"header: commas", fixture(t, httpAPI), header("Accept-Language"), `["en-GB" "en;q=0.9" "de;q=0.8"]`, `["en-GB,en;q=0.9,de;q=0.8"]`},
		{"header: context", with(t, httpAPI, "headers/x-golambdaproxy-apigw-context", `{}`),
			header(http.CanonicalHeaderKey(core.APIGwContextHeader)), `["{}"]`, `[]`},
		{"header: stage variables", with(t, httpAPI, "headers/x-golambdaproxy-apigw-stagevars", `{}`),
			header(http.CanonicalHeaderKey(core.APIGwStageVarsHeader)), `["{}"]`, `[]`},
		{"cookies: in one place", fixture(t, create), header("Cookie"), `["session=abc123" "theme=dark"]`, `["session=abc123; theme=dark"]`},
		{"cookies: in two places", fixture(t, samLocal), header("Cookie"),
			`["session=abc" "theme=dark" "session=abc; theme=dark"]`, `["session=abc; theme=dark"]`},
		{"host: header", with(t, httpAPI, "headers/host", "%zz:1"), host, apiHost, "%zz:1"},
		{"host: no header", fixture(t, functionURL), host, "<url-id>.lambda-url.us-west-2.on.aws", "<url-id>.lambda-url.us-west-2.on.aws"},
		{"host: in the URL", fixture(t, httpAPI), urlHost, "https//" + apiHost, "//"},
		{"address", with(t, httpAPI, "requestContext/http/sourceIp", "2001:db8::7"), remote, "2001:db8::7", "[2001:db8::7]:0"},
		{"unused field of another type", with(t, httpAPI, "requestContext/timeEpoch", "soon"), path,
			"error: json: cannot unmarshal string into Go struct field APIGatewayV2HTTPRequestContext.requestContext.timeEpoch of type int64", "/plants"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen string
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = tt.see(r)
				w.WriteHeader(http.StatusNoContent)
			})
			see := func([]byte) string { return seen }
			if got := outcome(bare(h), tt.event, see); got != tt.bare {
				t.Errorf("the adapter alone:\n got %s\nwant %s", got, tt.bare)
			}
			seen = "no request"
			if got := outcome(ours(h), tt.event, see); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}
