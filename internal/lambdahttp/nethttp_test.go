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

// requests are the fixtures that are HTTP requests, with what the handler sees.
var requests = map[string]string{
	create:                  "POST /plants?  203.0.113.7:0 " + `{"id":9007199254740993,"name":"Fern, “wild”","tag":""}`,
	httpAPI:                 "GET /plants?limit=2&include=id  203.0.113.7:0 ",
	samLocal:                "POST /plants?  127.0.0.1:0 " + `{"id":1,"name":"Fern, “wild”"}`,
	"sam-local/delete.json": "DELETE /plants/1%2F2%?limit=%zz;a  127.0.0.1:0 ",
	"aws-lambda-go/apigw-v2-request-jwt-authorizer.json": "GET /my/path?parameter1=value1&parameter1=value2&parameter2=value  IP:0 " +
		"{\r\n\t\"a\": 1\r\n}",
	functionURL: "POST /my/path?parameter1=value1&parameter1=value2&parameter2=value  " +
		"123.123.123.123:0 Hello from client!",
}

func TestFixtures(t *testing.T) {
	for name, want := range requests {
		var got string
		h := ours(func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got = fmt.Sprintf("%s %s?%s  %s %s", r.Method, r.URL.Path, r.URL.RawQuery, r.RemoteAddr, b)
		})
		b, err := h.Invoke(t.Context(), fixture(t, name))
		if a := decode(t, b, err); a.StatusCode != 200 || got != want {
			t.Errorf("%s: status %d\n got %q\nwant %q", name, a.StatusCode, got, want)
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
		b, err := ours(h).Invoke(t.Context(), with(t, functionURL, "rawPath", path, "rawQueryString", query, "cookies", nil, "body", "e30K", "isBase64Encoded", true,
			"headers", map[string]any{"host": "plants.example.com", "accept": "a,\t b", "content-length": "3"}))
		if decode(t, b, err); seen != want {
			t.Errorf("%s:\n got %s\nwant %s", target, seen, want)
		}
	}
}
