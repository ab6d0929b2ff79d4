package lambdahttp

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// The parts of a request that a handler sees.
func method(r *http.Request) string  { return r.Method }
func path(r *http.Request) string    { return r.URL.Path }
func query(r *http.Request) string   { return r.URL.RawQuery }
func target(r *http.Request) string  { return r.RequestURI }
func urlHost(r *http.Request) string { return r.URL.Scheme + "//" + r.URL.Host }
func host(r *http.Request) string    { return r.Host }
func remote(r *http.Request) string {
	host, port, err := net.SplitHostPort(r.RemoteAddr)
	return fmt.Sprint(host, " ", port, " ", err)
}
func header(name string) func(*http.Request) string {
	return func(r *http.Request) string { return fmt.Sprintf("%q", r.Header[name]) }
}
func body(r *http.Request) string {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.ContentLength, " ", string(b))
}

// TestRequestFaults shows each fault of the adapter in converting requests: what
// the handler sees, or how the invocation ends, with the adapter alone and with
// this package.
func TestRequestFaults(t *testing.T) {
	apiHost := "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"
	invalidEscape := `error: Could not convert proxy event to request: parse "https://` + apiHost
	for _, tt := range []struct {
		name       string
		event      []byte
		see        func(*http.Request) string
		bare, want string
	}{
		{"path: percent sign", with(t, httpAPI, "rawPath", "/plants/100%"), path,
			invalidEscape + `/plants/100%?limit=2&include=id": invalid URL escape "%"`, "/plants/100%"},
		{"path: decoded twice", with(t, httpAPI, "rawPath", "/plants/%41"), path, "/plants/A", "/plants/%41"},
		{"path: question mark", with(t, httpAPI, "rawPath", "/plants?limit=1"), path, "/plants", "/plants?limit=1"},
		{"path: question mark, query", with(t, httpAPI, "rawPath", "/plants?limit=1"), query,
			"limit=1?limit=2&include=id", "limit=2&include=id"},
		{"path: hash", with(t, httpAPI, "rawPath", "/plants#"), query, "", "limit=2&include=id"},
		{"path: control character", with(t, httpAPI, "rawPath", "/plants/\n"), path,
			`error: Could not convert proxy event to request: parse "https://` + apiHost + `/plants/\n?limit=2&include=id": net/url: invalid control character in URL`, "/plants/\n"},
		{"path: sam local", fixture(t, "sam-local/delete.json"), path,
			`error: Could not convert proxy event to request: parse "https://localhost/plants/1%2F2%?limit=%zz;a": invalid URL escape "%"`, "/plants/1%2F2%"},
		{"target", with(t, httpAPI, "rawPath", "/plants/1%2F2"), target,
			"/plants/1%2F2?limit=2&include=id", "/plants/1%252F2?limit=2&include=id"},
		{"query: hash", with(t, httpAPI, "rawQueryString", "limit=2#&limit=3"), query, "limit=2", "limit=2#&limit=3"},
		{"query: control character", with(t, httpAPI, "rawQueryString", "limit=\x7f"), query,
			`error: Could not convert proxy event to request: parse "https://` + apiHost + `/plants?limit=\x7f": net/url: invalid control character in URL`, "limit=\x7f"},
		{"query: from the parameters", with(t, httpAPI, "rawQueryString", ""), query, "include=id&limit=2", ""},
		{"method: capitals", with(t, httpAPI, "requestContext/http/method", "get"), method, "GET", "get"},
		{"header: commas", fixture(t, httpAPI), header("Accept-Language"),
			`["en-GB" "en;q=0.9" "de;q=0.8"]`, `["en-GB,en;q=0.9,de;q=0.8"]`},
		{"header: host", fixture(t, httpAPI), header("Host"), `["` + apiHost + `"]`, `[]`},
		{"cookies: HTTP API", fixture(t, create), header("Cookie"),
			`["session=abc123" "theme=dark"]`, `["session=abc123; theme=dark"]`},
		{"cookies: function URL", with(t, create, "headers/cookie", "session=abc123; theme=dark"), header("Cookie"),
			`["session=abc123" "theme=dark" "session=abc123; theme=dark"]`, `["session=abc123; theme=dark"]`},
		{"cookies: sam local", fixture(t, samLocal), header("Cookie"),
			`["session=abc" "theme=dark" "session=abc; theme=dark"]`, `["session=abc; theme=dark"]`},
		{"cookies: as the client wrote them", with(t, samLocal, "headers/Cookie", `a="b c"`), header("Cookie"),
			`["session=abc" "theme=dark" "a=\"b c\""]`, `["a=\"b c\""]`},
		{"context header", with(t, httpAPI, "headers/x-golambdaproxy-apigw-context", `{}`),
			header(http.CanonicalHeaderKey(core.APIGwContextHeader)), `["{}"]`, `[]`},
		{"stage variables header", with(t, httpAPI, "headers/x-golambdaproxy-apigw-stagevars", `{}`),
			header(http.CanonicalHeaderKey(core.APIGwStageVarsHeader)), `["{}"]`, `[]`},
		{"host: header", with(t, httpAPI, "headers/host", "plants.example.com"), host, apiHost, "plants.example.com"},
		{"host: port", fixture(t, samLocal), host, "localhost", "127.0.0.1:3000"},
		{"host: from the domain name", set(t, with(t, functionURL, "headers", map[string]any{}), "requestContext/domainName", "u.lambda-url.eu-central-1.on.aws"),
			host, "u.lambda-url.eu-central-1.on.aws", "u.lambda-url.eu-central-1.on.aws"},
		{"host: in the URL", fixture(t, httpAPI), urlHost, "https//" + apiHost, "//"},
		{"address", fixture(t, httpAPI), remote, "  address 203.0.113.7: missing port in address", "203.0.113.7 0 <nil>"},
		{"address: IPv6", with(t, httpAPI, "requestContext/http/sourceIp", "2001:db8::7"), remote,
			"  address 2001:db8::7: too many colons in address", "2001:db8::7 0 <nil>"},
		{"unused field of another type", with(t, httpAPI, "requestContext/timeEpoch", "soon"), path,
			"error: json: cannot unmarshal string into Go struct field APIGatewayV2HTTPRequestContext.requestContext.timeEpoch of type int64", "/plants"},
		{"domain name: invalid", with(t, httpAPI, "requestContext/domainName", "%zz"), host,
			`error: Could not convert proxy event to request: parse "https://%zz/plants?limit=2&include=id": invalid URL escape "%zz"`, apiHost},
		// The adapter gets these right.
		{"header: tab", with(t, httpAPI, "headers/accept", "a\tb"), header("Accept"), `["a\tb"]`, `["a\tb"]`},
		{"body: base64", set(t, with(t, create, "isBase64Encoded", true), "body", "w6kA/w=="), body, "4 é\x00\xff", "4 é\x00\xff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen string
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = tt.see(r)
				w.WriteHeader(http.StatusNoContent)
			})
			see := func([]byte) string { return seen }
			var got string
			printed(t, func() { got = outcome(bare(h), tt.event, see) })
			if got != tt.bare {
				t.Errorf("the adapter alone:\n got %s\nwant %s", got, tt.bare)
			}
			seen = "no request"
			if got := outcome(ours(h), tt.event, see); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// GO_API_HOST in the environment has no effect.
func TestGoAPIHost(t *testing.T) {
	t.Setenv("GO_API_HOST", "%zz")
	h := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) }
	see := func(b []byte) string { return unchecked(t, b).Body }
	var got string
	printed(t, func() { got = outcome(bare(http.HandlerFunc(h)), fixture(t, httpAPI), see) })
	if !strings.HasPrefix(got, "error: Could not convert") {
		t.Errorf("the adapter alone: %s", got)
	}
	if got := outcome(ours(h), fixture(t, httpAPI), see); got != "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com" {
		t.Errorf("got %s, want the host of the event", got)
	}
}
