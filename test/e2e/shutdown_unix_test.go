//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// After a signal the program accepts no connections, answers the requests in
// flight, and exits.
func TestSignalFinishesRequests(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p, conn := signalInFlight(t, signal)
			conn.send(inFlight)
			a := conn.answer()
			if !strings.HasPrefix(a, "HTTP/1.1 200 OK\r\n") ||
				!strings.HasSuffix(a, plantstest.ResponseJSON(plantstest.Example(7))+"\n") {
				t.Errorf("the request in flight got\n%s", a)
			}
			if code := p.Wait(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, p.Stderr.String())
			}
			text := p.Stderr.String()
			if !strings.Contains(text, "\nstopping; requests in flight may take up to 10s; press Ctrl-C again") ||
				!strings.HasSuffix(text, "\nstopped\n") {
				t.Errorf("it doesn't say what it waits for, and when it has stopped:\n%s", text)
			}
		})
	}
}

// A second signal ends the program at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p, _ := signalInFlight(t, os.Interrupt)
	harness.Await(t, func() error {
		if p.Cmd.Process.Signal(os.Interrupt) != nil {
			return nil
		}
		return errors.New("the program is still running")
	})
	if code := p.Wait(); code == 0 {
		t.Error("it ended by itself")
	}
}

// inFlight is the body of the request in flight.
var inFlight = plantstest.CreateJSON(plantstest.Example(7))

// signalInFlight starts the program and sends it a signal while a request is in
// flight: on conn, where its body is missing. It returns when the
// program accepts no more connections.
func signalInFlight(t *testing.T, signal os.Signal) (p *server, conn rawConn) {
	t.Helper()
	p = start(t, harness.Environ(), t.TempDir())
	conn = dial(t, p)
	const proceed = "HTTP/1.1 100 Continue\r\n\r\n" // sent when the service reads the body
	conn.send("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + p.user(t).token + "\r\n" +
		fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(inFlight)))
	if _, err := io.ReadFull(conn, make([]byte, len(proceed))); err != nil {
		t.Fatal(err)
	}
	if err := p.Cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, func() error {
		other, err := net.Dial("tcp", strings.TrimPrefix(p.Base, "http://"))
		if err != nil {
			return nil
		}
		other.Close()
		return errors.New("the program still accepts connections")
	})
	return p, conn
}
