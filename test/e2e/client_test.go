package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// stub returns a client of a server with the given handler.
func stub(t *testing.T, handler http.HandlerFunc) *client {
	server := httptest.NewUnstartedServer(handler)
	server.Config.DisableGeneralOptionsHandler = true
	server.Start()
	t.Cleanup(server.Close)
	token := func(_ testing.TB, r TokenRequest) string {
		user, _, _ := strings.Cut(r.Subject, "-")
		return fmt.Sprintf("%s%s.%t.signature", user, r.Scopes, r.Expired)
	}
	return newClient(Target{Base: server.URL, Token: token})
}

// valid sends an answer without a fault.
func valid(w http.ResponseWriter) {
	w.Header()["X"] = []string{"1", "2"}
	respond(200, "{\"a\":[1],\n \"b\":\"one\"}\n")(w)
}

// respond returns a function that sends the body as JSON.
func respond(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Request-Id", "x")
		if status != 204 {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestCheckAlways(t *testing.T) {
	plain := func(w http.ResponseWriter) { w.Header().Set("Cache-Control", "no-store"); io.WriteString(w, "{}\n") }
	for _, test := range []struct {
		title, method string
		answer        func(http.ResponseWriter)
		want          string // the error, "" for none
	}{
		{"valid", "GET", valid, ""},
		{"failure of HEAD", "HEAD", respond(400, ""), ""},
		{"no Cache-Control", "GET", func(w http.ResponseWriter) { w.WriteHeader(204) }, "Cache-Control"},
		{"plain text", "GET", plain, "Content-Type"},
		{"no newline", "GET", respond(200, `{}`), "newline"},
		{"not JSON", "GET", respond(200, "{\n"), "JSON"},
		{"unknown member", "GET", respond(400, `{"error":40000,"message":"x","x":1}`+"\n"), "Error shape"},
		{"code of another status", "GET", respond(400, `{"error":40400,"message":"x"}`+"\n"), "does not belong"},
		{"empty message", "GET", respond(400, `{"error":40000,"message":""}`+"\n"), "does not belong"},
		{"no WWW-Authenticate", "HEAD", respond(401, ""), "WWW-Authenticate"},
		{"no Allow", "GET", respond(405, `{"error":40500,"message":"x"}`+"\n"), "Allow"},
		{"no Retry-After", "GET", respond(503, `{"error":50300,"message":"x"}`+"\n"), "Retry-After"},
	} {
		c := stub(t, func(w http.ResponseWriter, _ *http.Request) { test.answer(w) })
		_, err := c.send(t, request{method: test.method, target: "/plants?x"})
		checkErr(t, test.title, err, test.want)
	}
}

// Failure messages contain the whole exchange, without its token.
func TestFailureMessage(t *testing.T) {
	c := stub(t, func(w http.ResponseWriter, _ *http.Request) { valid(w) })
	err := runScript(t, c, "> GET /x\n> Authorization: Bearer eyJabcdefghijkl.mn_-op\n>\n> body\n< 404")
	const want = "status: want \"404\"\n> GET /x\n> Authorization: Bearer eyJabcdefgh…\n> \n> body\n" +
		"< 200\n< Cache-Control: no-store\n< Content-Length: 22\n< Content-Type: application/json\n< Date: *\n< X: 1\n< X: 2\n< X-Request-Id: x\n< \n< {\"a\":[1],\n<  \"b\":\"one\"}\n"
	before, after, _ := strings.Cut(want, "*")
	if err == nil || !strings.HasPrefix(err.Error(), before) || !strings.HasSuffix(err.Error(), after) {
		t.Errorf("got\n%v", err)
	}
}

// checkErr checks that err contains want or, if want is empty, that it is nil.
func checkErr(t *testing.T, title string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%q: got error %v, want %q", title, err, want)
	}
}
