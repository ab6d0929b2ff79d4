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
	conn.SetReadDeadline(time.Now().Add(tools.Patience()))
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
