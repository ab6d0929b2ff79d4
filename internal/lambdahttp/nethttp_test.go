package lambdahttp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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
	"aws-lambda-go/apigw-v2-request-no-authorizer.json": "GET /?  1.2.3.4:0 ",
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

// TestRequestAsNetHTTP sends requests to a net/http server and the corresponding
// events to Invoke. The handler must see the same request.
func TestRequestAsNetHTTP(t *testing.T) {
	var seen string
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		u := *r.URL
		u.RawPath = ""
		seen = fmt.Sprintf("%s %#v\n%s\n%s\n%s %q %q %d %q", r.Method, u, r.URL.RawPath, r.RequestURI,
			r.Host, r.Header["Accept"], r.Header["Host"], r.ContentLength, b)
		if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(h)
	defer server.Close()
	invoke := func(event []byte) string {
		seen = ""
		b, err := ours(h).Invoke(t.Context(), event)
		decode(t, b, err)
		return seen
	}
	for _, target := range []string{
		"/", "/plants", "//plants//", "/plants/", "/a/../b/.", "/plants/1%2F2", "/plants/%41", "/plants/%2541", "/%25", "/%3F%23;a=b:c@d",
		"/caf%C3%A9%20au%20lait", "/%00%0A%7F", "/a+b%2Bc", "/plants?limit=1", "/plants?limit=%zz", "/plants?a;b", "/?a=b?c=d&&=", "/%E2%82%AC?q=%E2%82%AC",
	} {
		const content = `{"id":1}`
		sendRaw(t, server.Listener.Addr().String(), fmt.Sprintf("POST %s HTTP/1.1\r\nHost: plants.example.com\r\nAccept: a, b\r\nContent-Length: %d\r\n\r\n%s", target, len(content), content))
		want := seen
		rawPath, rawQuery, _ := strings.Cut(target, "?")
		decoded, err := url.PathUnescape(rawPath)
		if err != nil {
			t.Fatal(err)
		}
		event := with(t, functionURL, "rawQueryString", rawQuery)
		event = set(t, event, "headers", map[string]any{"host": "plants.example.com", "accept": "a, b"})
		event = set(t, event, "body", content)
		event = set(t, event, "requestContext/http/method", "POST")
		if got := invoke(set(t, event, "rawPath", rawPath)); got != want {
			t.Errorf("%s through a function URL:\n got %s\nwant %s", target, got, want)
		}
		// An HTTP API decodes the path, so its original encoding is lost.
		event = set(t, event, "requestContext/domainName", "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com")
		got := strings.Split(invoke(set(t, event, "rawPath", decoded)), "\n")
		wants := strings.Split(want, "\n")
		if !slices.Equal(slices.Delete(got, 1, 3), slices.Delete(wants, 1, 3)) {
			t.Errorf("%s through an HTTP API:\n got %s\nwant %s", target, got, wants)
		}
	}
}

// sendRaw sends a request and checks that the response has status 200.
func sendRaw(t *testing.T, addr, request string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, request)
	b := make([]byte, 12)
	if _, err := io.ReadFull(conn, b); err != nil || !bytes.Equal(b, []byte("HTTP/1.1 200")) {
		t.Fatalf("%q: %q %v", request, b, err)
	}
}
