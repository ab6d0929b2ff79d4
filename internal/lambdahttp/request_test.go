package lambdahttp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A handler sees the request in the event even where the adapter would change it.
func TestRequests(t *testing.T) {
	t.Setenv("GO_API_HOST", "%zz") // the adapter would take the host from it
	for _, tt := range []struct {
		event []byte
		want  string // a part of method, path, query, client, body, host and headers
	}{
		{fixture(t, create), `POST /plants? 203.0.113.7:0 {"id":9007199254740993,"name":"Fern, “wild”","tag":""} `},
		{fixture(t, create), `"Cookie":["session=abc123; theme=dark"]`},
		{fixture(t, httpAPI), "GET /plants?limit=2&include=id 203.0.113.7:0  "},
		{fixture(t, httpAPI), `"Accept-Language":["en-GB,en;q=0.9,de;q=0.8"]`},
		{fixture(t, samLocal), `POST /plants? 127.0.0.1:0 {"id":1,"name":"Fern, “wild”"} `},
		{fixture(t, samLocal), `"Cookie":["session=abc; theme=dark"]`}, // although the event contains it twice
		{fixture(t, "sam-local/delete.json"), "DELETE /plants/1%2F2%?limit=%zz;a 127.0.0.1:0  "},
		{fixture(t, functionURL), "POST /my/path?parameter1=value1&parameter1=value2&parameter2=value 123.123.123.123:0 Hello from client! "},
		{fixture(t, functionURL), " <url-id>.lambda-url.us-west-2.on.aws map["}, // there is no Host header
		{with(t, httpAPI, "rawPath", "/plants/%41?limit=1#%"), "GET /plants/%41?limit=1#%?limit=2"},
		{with(t, httpAPI, "rawPath", "/plants/%41"), "GET /plants/%41?limit=2"}, // decoded already
		{with(t, httpAPI, "rawQueryString", "limit=2#&limit=\x7f"), "GET /plants?limit=2#&limit=\x7f 203"},
		{with(t, httpAPI, "rawQueryString", ""), "GET /plants? 203"}, // not taken from the parsed parameters
		{with(t, httpAPI, "requestContext/http/method", "get"), "get /plants"},
		{with(t, httpAPI, "requestContext/timeEpoch", "soon"), "GET /plants"}, // of an unexpected type, but unused
		{with(t, httpAPI, "headers/host", "%zz:1"), " %zz:1 map["},
		{with(t, httpAPI, "requestContext/http/sourceIp", "2001:db8::7"), " [2001:db8::7]:0 "},
	} {
		var got string
		a := invoke(t, ours(func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got = fmt.Sprintf("%s %s?%s %s %s %s %q", r.Method, r.URL.Path, r.URL.RawQuery, r.RemoteAddr, b, r.Host, r.Header)
		}), tt.event)
		if a.StatusCode != 200 || !strings.Contains(got, tt.want) {
			t.Errorf("status %d, got %q, want %q for %s", a.StatusCode, got, tt.want, tt.event)
		}
	}
}

// A handler sees the same request behind a net/http server and, as the event of a
// function URL, behind this package.
func TestRequestAsNetHTTP(t *testing.T) {
	var seen string
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen = fmt.Sprintf("%s %#v\n%s\n%s %q %d %q", r.Method, r.URL, r.RequestURI, r.Host, r.Header, r.ContentLength, b)
		if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(h)
	defer server.Close()
	for _, target := range []string{
		"/", "//plants//", "/a/../b/.", "/plants/1%2F2", "/plants/%41", "/plants/%2541", "/%25", "/%3F%23;a=b:c@d",
		"/caf%C3%A9%20au%20lait", "/%00%0A%7F", "/a+b%2Bc", "/plants?limit=%zz", "/plants?a;b", "/?a=b?c=d&&=", "/%E2%82%AC?q=%E2%82%AC",
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: plants.example.com\r\nAccept: a,\t b\r\nContent-Length: 3\r\n\r\n{}\n", target)
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		conn.Close()
		want := seen
		seen = "nothing"
		path, query, _ := strings.Cut(target, "?")
		invoke(t, ours(h), with(t, functionURL, "rawPath", path, "rawQueryString", query, "cookies", nil, "body", "e30K", "isBase64Encoded", true,
			"headers", map[string]any{"host": "plants.example.com", "accept": "a,\t b", "content-length": "3"}))
		if seen != want {
			t.Errorf("%s:\n got %s\nwant %s", target, seen, want)
		}
	}
}
