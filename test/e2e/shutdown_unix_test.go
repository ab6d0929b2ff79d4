//go:build unix

package e2e

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/plantstore/test/program"
)

// A signal ends the program, but not the requests in flight: one that has been
// sent by half when it comes is answered, while nobody new is let in.
func TestSignalFinishesRequests(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := start(t, program.Environ(), dir)
			token := p.token(t, TokenRequest{Subject: "alice"})
			conn := dial(t, p)
			const body = `{"id": 7, "name": "Basil"}`
			conn.send("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 26\r\n\r\n" + body[:10])
			// Once the token has been read the request is in flight.
			awaitInFlight(t, p, token)
			if err := p.Cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			awaitClosed(t, p)
			conn.send(body[10:])
			if a := conn.answer(); !strings.HasPrefix(a, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(a, `{"name":"Basil"}`+"\n") {
				t.Errorf("the request in flight got\n%s", a)
			}
			if code := p.Wait(t, 20*time.Second); code != 0 {
				t.Errorf("exit code %d:\n%s", code, p.Stderr.String())
			}
			again := start(t, program.Environ(), dir)
			if plants := list(t, newClient(again.target()), "alice"); len(plants) != 1 || *plants[0].ID != 7 {
				t.Errorf("after a restart there is %v", plants)
			}
		})
	}
}

// awaitInFlight returns when a request that was sent on another connection
// before must have been accepted: connections are accepted in turn.
func awaitInFlight(t *testing.T, p *server, token string) {
	t.Helper()
	c := newClient(p.target())
	defer c.transport.CloseIdleConnections()
	if _, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)}); err != nil {
		t.Fatal(err)
	}
}

// awaitClosed returns when the program takes no more connections.
func awaitClosed(t *testing.T, p *server) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.Base, "http://"))
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatal("the program still takes connections")
}
