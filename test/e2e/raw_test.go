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

// rawExchange sends the text, after which the server closes the connection, and
// returns the answer.
func (p *server) rawExchange(t *testing.T, text string) string {
	t.Helper()
	conn := dial(t, p)
	conn.send(text)
	return conn.answer()
}

// Requests have at most 20 KiB of headers: 16 in the server's settings, and 4 that net/http
// adds.
func TestHeaderSizes(t *testing.T) {
	t.Parallel()
	p := start(t, harness.Environ(), t.TempDir())
	for size, want := range map[int]string{16 << 10: "401", 20 << 10: "431"} {
		a := p.rawExchange(t, "GET /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+
			"A: "+strings.Repeat("a", size)+"\r\n\r\n")
		if !strings.HasPrefix(a, "HTTP/1.1 "+want+" ") {
			t.Errorf("%d bytes: want status %s, got\n%s", size, want, a)
		}
	}
}

// The service itself responds to targets that are not a path, not net/http.
func TestOddTargets(t *testing.T) {
	t.Parallel()
	p := start(t, harness.Environ(), t.TempDir())
	for _, target := range []string{"OPTIONS *", "CONNECT plants:80"} {
		a := p.rawExchange(t, target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.Contains(a, "\r\n\r\n{\"error\":40401,") || !strings.Contains(a, "\r\nCache-Control: no-store\r\n") {
			t.Errorf("%s: want error 40401, got\n%s", target, a)
		}
	}
}
