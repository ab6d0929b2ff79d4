package e2e

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
)

// A rawConn is a connection for requests that no HTTP client would send.
type rawConn struct {
	t *testing.T
	net.Conn
}

func dial(t *testing.T, p *server) rawConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.Base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return rawConn{t, conn}
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
	c.SetReadDeadline(time.Now().Add(harness.Patience))
	all, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("the connection is still open")
	}
	return string(all)
}

// Requests have at most 20 KiB of headers: 16 in the server's settings, and 4 that net/http
// adds. The service itself responds to targets that are not a path, not net/http.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	p := start(t, harness.Environ(), t.TempDir())
	for request, want := range map[string]string{
		"GET /plants HTTP/1.1\r\nA: " + strings.Repeat("a", 16<<10): "40100",
		"GET /plants HTTP/1.1\r\nA: " + strings.Repeat("a", 20<<10): "431 ",
		"OPTIONS * HTTP/1.1":         "40401",
		"CONNECT plants:80 HTTP/1.1": "40401",
	} {
		conn := dial(t, p)
		conn.send(request + "\r\nHost: x\r\nConnection: close\r\n\r\n")
		if a := conn.answer(); !strings.Contains(a, want) {
			t.Errorf("%.30q: want %s, got\n%s", request, want, a)
		}
	}
}
