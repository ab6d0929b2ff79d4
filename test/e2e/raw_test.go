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
	c.SetReadDeadline(time.Now().Add(tools.Patience))
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
		"truncated chunk": "Transfer-Encoding: chunked\r\n\r\nff\r\n" + `{"id": 1, "name": "Basil"}`,
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

// Requests have at most 64 KiB of headers.
func TestHeaderSizes(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	for size, want := range map[int]string{64 << 10: "401", 68 << 10: "431"} { // net/http allows 4 KiB more
		a := p.rawExchange(t, "GET /plants HTTP/1.1\r\nHost: x\r\nA: "+strings.Repeat("a", size)+"\r\n\r\n")
		if !strings.HasPrefix(a, "HTTP/1.1 "+want+" ") {
			t.Errorf("%d bytes: want status %s, got\n%s", size, want, a)
		}
	}
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

// Connections of clients that send slowly are closed after a while, with an
// answer if the headers have arrived. Until then they don't delay others.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	c, token := p.user(t)
	const line = "POST /plants HTTP/1.1\r\nHost: x\r\n"
	starts := []struct{ text, want string }{
		{"", ""},
		{line + "X: ", ""},
		{line + "Authorization: Bearer " + token + "\r\nContent-Length: 1000\r\n\r\n{", `{"error":40000,`},
	}
	ended := make(chan error)
	slow := 0
	for range 100 {
		for _, start := range starts {
			conn := dial(t, p)
			slow++
			go func() { ended <- trickle(conn, start.text, start.want) }()
		}
	}
	for slow > 0 {
		select {
		case err := <-ended:
			if slow--; err != nil {
				t.Fatal(jwt.ReplaceAllString(err.Error(), "$1…"))
			}
		default:
			id := randomID()
			createAll(t, c, token, plant{ID: &id, Name: "Basil"})
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// trickle sends the text, and then single bytes until the server closes the
// connection. The answer must contain want.
func trickle(conn rawConn, text, want string) error {
	if _, err := io.WriteString(conn, text); err != nil {
		return err
	}
	closed := make(chan struct{})
	defer close(closed)
	go func() {
		for {
			select {
			case <-closed:
				return
			case <-time.After(200 * time.Millisecond):
				io.WriteString(conn, "x") // reading reports the error
			}
		}
	}()
	conn.SetReadDeadline(time.Now().Add(tools.Patience))
	got, err := io.ReadAll(conn)
	if err, ok := err.(net.Error); ok && err.Timeout() {
		return fmt.Errorf("the connection is still open after %q", text)
	}
	// Before the end of the headers, net/http may or may not answer.
	if !strings.Contains(string(got), want) || len(got) > 0 && !strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
		return fmt.Errorf("the answer to %q is %q", text, got)
	}
	return nil
}
