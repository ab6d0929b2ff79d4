package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/program"
)

// A rawConn is a connection for what no HTTP client would send.
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

// answer returns all that comes until the server closes the connection.
func (c rawConn) answer() string {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(60 * time.Second))
	all, err := io.ReadAll(c)
	if err != nil && len(all) == 0 {
		c.t.Errorf("no answer: %v", err)
	}
	return string(all)
}

// The one fault of a request that isn't in any other row of the table: its body
// doesn't arrive as announced.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	head := "POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + p.token(t, TokenRequest{Subject: "alice"}) + "\r\n"
	for name, rest := range map[string]string{
		"cut off":               "Content-Length: 100\r\n\r\n" + `{"id": 1, "name": "Basil"}`,
		"nothing":               "Content-Length: 100\r\n\r\n",
		"cut off chunk":         "Transfer-Encoding: chunked\r\n\r\nff\r\n" + `{"id": 1, "name": "Basil"}`,
		"no last chunk":         "Transfer-Encoding: chunked\r\n\r\n1a\r\n" + `{"id": 1, "name": "Basil"}` + "\r\n",
		"length of chunk wrong": "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + `{"id": 1, "name": "Basil"}` + "\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, p)
			conn.send(head + rest)
			conn.CloseWrite()
			a := conn.answer()
			for _, want := range []string{"HTTP/1.1 400 ", "\r\nCache-Control: no-store\r\n", "\r\nContent-Type: application/json\r\n", `{"error":40000,"message":"`} {
				if !strings.Contains(a, want) {
					t.Errorf("no %q in\n%s", want, a)
				}
			}
		})
	}
	if plants := list(t, newClient(p.target()), "alice"); len(plants) > 0 {
		t.Errorf("%v came of it", plants)
	}
}

// What net/http refuses by itself never ends in a crash, a hang or a plant.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	auth := "Authorization: Bearer " + p.token(t, TokenRequest{Subject: "alice"}) + "\r\n"
	for name, test := range map[string]struct{ text, want string }{
		"nonsense":         {"basil\r\n\r\n", "HTTP/1.1 400 "},
		"bad path":         {"GET /plants/%zz HTTP/1.1\r\nHost: x\r\n" + auth + "\r\n", "HTTP/1.1 400 "},
		"no host":          {"GET /plants HTTP/1.1\r\n" + auth + "\r\n", "HTTP/1.1 400 "},
		"bad header":       {"GET /plants HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", "HTTP/1.1 400 "},
		"control in value": {"GET /plants HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n", "HTTP/1.1 400 "},
		"large headers":    {"GET /plants HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 100<<10) + "\r\n\r\n", "HTTP/1.1 431 "},
		"two lengths":      {"POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 400 "},
		"other encoding":   {"POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}", "HTTP/1.1 501 "},
		"other version":    {"GET /plants HTTP/3.0\r\nHost: x\r\n\r\n", "HTTP/1.1 505 "},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, p)
			conn.send(test.text)
			conn.CloseWrite()
			if a := conn.answer(); !strings.HasPrefix(a, test.want) {
				t.Errorf("not %q:\n%s", test.want, a)
			}
		})
	}
	// It has read the others to their end, or the next request would be theirs.
	if plants := list(t, newClient(p.target()), "alice"); len(plants) > 0 {
		t.Errorf("%v came of it", plants)
	}
}

// What is no path at all is no path of the service, and requests for a proxy go
// by their path.
func TestOddTargets(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	token := p.token(t, TokenRequest{Subject: "alice"})
	for target, want := range map[string]string{
		"OPTIONS *":                           `{"error":40401,`,
		"GET http://elsewhere.example/x":      `{"error":40401,`,
		"GET http://elsewhere.example/plants": "[]",
		"CONNECT plants:80":                   `{"error":40401,`,
	} {
		conn := dial(t, p)
		conn.send(fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", target, token))
		if a := conn.answer(); !strings.Contains(a, "\r\n\r\n"+want) || !strings.Contains(a, "\r\nCache-Control: no-store\r\n") {
			t.Errorf("%s: no %s in\n%s", target, want, a)
		}
	}
}
