//go:build unix

package e2e

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

// After a signal the program accepts no connections, answers the requests in
// flight, and exits.
func TestSignalFinishesRequests(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := start(t, program.Environ(), dir)
			c, token := p.user(t)
			conn := dial(t, p)
			const body = `{"id": 7, "name": "Basil"}`
			conn.send("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 26\r\n\r\n" + body[:10])
			// Connections are accepted in order: after this answer, the
			// request above is in flight.
			expect(t, c, token, "GET", 200, 0)
			c.transport.CloseIdleConnections()
			if err := p.Cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			awaitClosed(t, p)
			conn.send(body[10:])
			if a := conn.answer(); !strings.HasPrefix(a, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(a, `{"name":"Basil"}`+"\n") {
				t.Errorf("the request in flight got\n%s", a)
			}
			if code := p.Wait(t); code != 0 {
				t.Errorf("exit code %d:\n%s", code, p.Stderr.String())
			}
			again := start(t, program.Environ(), dir)
			id := int64(7)
			expectPlants(t, newClient(again.target()), token, plant{ID: &id, Name: "Basil"})
			if text := p.Stderr.String(); !strings.Contains(text, "waiting up to 15s for requests in flight (1); press Ctrl-C again") {
				t.Errorf("it doesn't say what it waits for:\n%s", text)
			}
		})
	}
}

// awaitClosed waits until the program accepts no more connections.
func awaitClosed(t *testing.T, p *server) {
	t.Helper()
	tools.Await(t, func() error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.Base, "http://"))
		if err != nil {
			return nil
		}
		conn.Close()
		return errors.New("the program still accepts connections")
	})
}
