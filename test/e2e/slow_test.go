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

// Clients that are slow to send are let go in the end, with an answer if they
// have got as far as a request, and until then are in nobody's way.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	token := p.token(t, TokenRequest{Subject: "alice"})
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
	c := newClient(p.target())
	for slow > 0 {
		select {
		case err := <-ended:
			if slow--; err != nil {
				t.Fatal(tokens.ReplaceAllString(err.Error(), "$1…"))
			}
		default: // the others are served all the time
			id := randomID()
			if a, err := create(t, c, token, plant{ID: &id, Name: "Basil"}); err != nil || a.status != 200 {
				t.Fatalf("%v\n%s", err, a)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// trickle sends the text, and then a byte now and then, until the server closes
// the connection. What it has answered must hold want.
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
				io.WriteString(conn, "x") // an error shows in what is read
			}
		}
	}()
	conn.SetReadDeadline(time.Now().Add(40 * time.Second))
	got, err := io.ReadAll(conn)
	if err, ok := err.(net.Error); ok && err.Timeout() {
		return fmt.Errorf("after %q the connection is still open", text)
	}
	// Without a whole header there is no request; net/http may say so.
	if !strings.Contains(string(got), want) || len(got) > 0 && !strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
		return fmt.Errorf("after %q the answer is %q", text, got)
	}
	return nil
}
