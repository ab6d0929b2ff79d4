package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

// A rawConn is a connection for requests that no HTTP client would send.
type rawConn struct {
	t *testing.T
	*net.TCPConn
}

func dial(t *testing.T, p *server) rawConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.Base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return rawConn{t, conn.(*net.TCPConn)}
}

func (c rawConn) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// answer returns everything up to the end of the connection.
func (c rawConn) answer() string {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(tools.Patience()))
	all, err := io.ReadAll(c)
	if err != nil && len(all) == 0 {
		c.t.Errorf("no answer: %v", err)
	}
	return string(all)
}

// rawExchange sends the text, with nothing after it, and returns the answer.
func (p *server) rawExchange(t *testing.T, text string) string {
	t.Helper()
	conn := dial(t, p)
	conn.send(text)
	conn.CloseWrite()
	return conn.answer()
}

// A body that doesn't arrive as announced is invalid.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	c, token := p.user(t)
	head := "POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n"
	for name, rest := range map[string]string{
		"truncated":       "Content-Length: 100\r\n\r\n" + `{"id": 1, "name": "Basil"}`,
		"missing":         "Content-Length: 100\r\n\r\n",
		"truncated chunk": "Transfer-Encoding: chunked\r\n\r\nff\r\n" + `{"id": 1, "name": "Basil"}`,
		"no last chunk":   "Transfer-Encoding: chunked\r\n\r\n1a\r\n" + `{"id": 1, "name": "Basil"}` + "\r\n",
		"malformed chunk": "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + `{"id": 1, "name": "Basil"}` + "\r\n0\r\n\r\n",
	} {
		a := p.rawExchange(t, head+rest)
		for _, want := range []string{"HTTP/1.1 400 ", "\r\nCache-Control: no-store\r\n", "\r\nContent-Type: application/json\r\n", `{"error":40000,"message":"`} {
			if !strings.Contains(a, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, a)
			}
		}
	}
	expectPlants(t, c, token)
}

// Requests that net/http itself rejects, for example because of more than 64 KiB of
// headers, don't crash or block the program and create nothing.
func TestRejectedByServer(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	c, token := p.user(t)
	const get, post = "GET /plants HTTP/1.1\r\nHost: x\r\n", "POST /plants HTTP/1.1\r\nHost: x\r\n"
	for text, want := range map[string]string{
		"basil\r\n\r\n": "400",
		"GET /plants/%zz HTTP/1.1\r\nHost: x\r\n\r\n":             "400",
		"GET /plants HTTP/1.1\r\n\r\n":                            "400",
		"GET /plants HTTP/3.0\r\nHost: x\r\n\r\n":                 "505",
		get + "A b: c\r\n\r\n":                                    "400",
		get + "A: \x01\r\n\r\n":                                   "400",
		get + "A: " + strings.Repeat("a", 64<<10) + "\r\n\r\n":    "401",
		get + "A: " + strings.Repeat("a", 68<<10) + "\r\n\r\n":    "431", // net/http allows 4 KiB more
		post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}": "400",
		post + "Transfer-Encoding: gzip\r\n\r\n{}":                "501",
	} {
		if a := p.rawExchange(t, text); !strings.HasPrefix(a, "HTTP/1.1 "+want+" ") {
			t.Errorf("%.80q: want status %s, got\n%s", text, want, a)
		}
	}
	expectPlants(t, c, token)
}

// A request target that is not a path is an unknown path. One with a host, as
// proxies get it, is routed by its path.
func TestOddTargets(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	_, token := p.user(t)
	for target, want := range map[string]string{
		"OPTIONS *":                           `{"error":40401,`,
		"GET http://elsewhere.example/x":      `{"error":40401,`,
		"GET http://elsewhere.example/plants": "[]",
		"CONNECT plants:80":                   `{"error":40401,`,
	} {
		conn := dial(t, p)
		conn.send(fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", target, token))
		if a := conn.answer(); !strings.Contains(a, "\r\n\r\n"+want) || !strings.Contains(a, "\r\nCache-Control: no-store\r\n") {
			t.Errorf("%s: want %s, got\n%s", target, want, a)
		}
	}
}
