package e2e

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// stub returns a client of a server with the given handler.
func stub(t *testing.T, handler http.HandlerFunc) *client {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := newClient(Target{Base: server.URL, Front: httpAPI}, "")
	c.undocumented = true
	return c
}

// respond returns a handler that sends the body as the service would.
func respond(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), http.Header{"Cache-Control": {"no-store"}, "Content-Type": {"application/json"},
			"X-Content-Type-Options": {"nosniff"}, "X-Request-Id": {"x"}})
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// tryScript returns the first error of a script, like [script.run].
func tryScript(t *testing.T, c *client, text string) error {
	s, err := parseScript("x", text)
	v := newVars(t, c)
	for _, x := range s.exchanges {
		for _, row := range x.rows {
			err = cmp.Or(err, s.try(t, v, &x, row))
		}
	}
	return err
}

// A script that misses every fault passes, too: these scripts must fail with this
// error, "" for none.
func TestScripts(t *testing.T) {
	const first = "> GET /?cursor=one\n< 200\n< X: cursor=$next\n"
	for _, test := range []struct{ script, err string }{
		{"> GET /\n< 200\n<! Y\n< x: one\n<\n< {\"a\":[1],\n<  \"b\":\"one\"}", ""},
		{"> GET /\n< 2$_\n< X: $_\n<\n< {$_}", ""},
		{"> GET /\n< 404", "status: want"},
		{"> GET /\n< 200\n<\n< {$_]", "body: want"},
		{"> GET /\n< 200\n< X: on", "X: want"},
		{"> GET /\n< 200\n< Y: 1", "Y: want"},
		{"> GET /\n< 200\n<! X", "X is present"},
		{"> GET /\n< 200\n<", "body: want"},
		{"> GET /\n< 200\n<\n< {\"a\":[1],", "body: want"},
		{"> GET /\n< 200\n<\n< {\"a\":[$n],\n<  \"b\":\"$n\"}", "one value of $n"},
		{first + "\n> GET /?cursor=one\n< 200\n< X: cursor=$next", ""},
		{first + "\n> GET /?cursor=two\n< 200\n< X: cursor=$next", "X: want"},
		{"> GET /?a=\n< 200\n< X: a=$x", "X: want"}, // a value has a character
		{"> GET /$each\n< 200\n| missing\n| ", "status: want"},
		{"> GET /missing\n< 200\n\n> GET /\n< 200", "status: want"},
		{"> GET /\n< 200\n> GET /missing\n< 200", "not a header"},

		{"# An exception.\n> GET /missing\n< 200", ""},
		{"# An exception.\n> GET /\n< 200", "should be removed: why"},
		{"> GET /$each\n< 404\n| exceptional", ""},
		{"> GET /$each\n< 404\n| missing\n| exceptional", ""},
		{"> GET /$each\n< 404\n| exceptional\n| ", "status: want"},

		{"> GET /", "needs a request and an answer"},
		{"< 200", "needs a request and an answer"},
		{"> GET /\n< 200\n200", "must start with"},
		{"> GET /$unset\n< 200", "has no value"},
		{"> GET /${repeat a}\n< 200", "wrong number of arguments"},
	} {
		c := stub(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X", "one")
			status := 200
			if r.URL.RawQuery != "" {
				w.Header().Set("X", r.URL.RawQuery)
			}
			if r.URL.Path == "/missing" {
				status = 404
			}
			respond(status, "{\"a\":[1],\n \"b\":\"one\"}\n")(w, r)
		})
		c.Front = &Front{Exceptions: map[string]string{"x: An exception.": "why", "x: exceptional": "why"}}
		checkErr(t, test.script, tryScript(t, c, test.script), test.err)
	}
}

// checkErr checks that err contains want or, if want is empty, that it is nil.
func checkErr(t *testing.T, title string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%q: got error %v, want %q", title, err, want)
	}
}

// Only lists that lag are requested again, and deletes that should find nothing.
func TestRepeats(t *testing.T) {
	for method, statuses := range map[string][]int{"GET": {404, 200}, "DELETE": {204, 404}, "POST": {404, 204}} {
		calls := 0
		c := stub(t, func(w http.ResponseWriter, r *http.Request) {
			respond(statuses[min(calls, 1)], "")(w, r)
			calls++
		})
		c.Lag = time.Minute
		err := tryScript(t, c, fmt.Sprintf("> %s /\n< %d", method, statuses[1]))
		if repeats := method != "POST"; (err == nil) != repeats || (calls == 2) != repeats {
			t.Errorf("%s: %d calls, %v", method, calls, err)
		}
	}
}

// Exchanges are compared with the OpenAPI document.
func TestDocumented(t *testing.T) {
	stubbed := stub(t, respond(410, `{"error":41000,"message":"x"}`+"\n"))
	_, err := newClient(stubbed.Target, "x").send(t, request{Method: "DELETE", Target: "/plants/1"}, 410)
	checkErr(t, "status 410", err, "document this exchange in api/openapi.yaml")
}
