//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// Programs inherit from nohup that SIGHUP is ignored, but not if the tests catch it.
func init() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}

// After a signal the program accepts no connections, answers the requests in
// flight, and exits.
func TestSignalFinishesRequests(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := start(t, harness.Environ(), t.TempDir())
			conn := signalInFlight(t, p, sig)
			if sig == syscall.SIGHUP {
				p.Cmd.Process.Signal(sig) // a terminal that closes sends it twice
			}
			conn.finish()
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

// A parent that ignores SIGHUP, as nohup does, wants a program that outlives its terminal.
func TestIgnoredHangup(t *testing.T) {
	t.Parallel()
	binary, err := harness.Build("cmd/local")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" -addr 127.0.0.1:0 -data "$1"`, binary, t.TempDir())
	cmd.Env = harness.Environ()
	p, err := harness.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	server := &server{&plainserver.Server{Process: p, Base: p.Await(t, `(?m)^listening on (http://\S+)`)[1]}}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 10 { // a program that stops would do so meanwhile
		time.Sleep(20 * time.Millisecond)
		server.user(t, "alice").Owns()
	}
	if p.Stop(); !strings.Contains(p.Stderr.String(), "\nstopped\n") {
		t.Errorf("it ended otherwise:\n%s", p.Stderr.String())
	}
}

// A second signal ends the program at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p := start(t, harness.Environ(), t.TempDir())
	signalInFlight(t, p, os.Interrupt)
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

// signalInFlight sends the program a signal while a request is in flight: on conn, where its
// body is missing. It returns when the program accepts no more connections.
func signalInFlight(t *testing.T, p *server, signal os.Signal) (conn rawConn) {
	t.Helper()
	conn = dial(t, p)
	const proceed = "HTTP/1.1 100 Continue\r\n\r\n" // sent when the service reads the body
	conn.send("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + p.token(t, "alice") + "\r\n" +
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
	return conn
}

// finish sends the missing body, and checks the response.
func (c rawConn) finish() {
	c.t.Helper()
	c.send(inFlight)
	a := c.answer()
	if !strings.HasPrefix(a, "HTTP/1.1 200 OK\r\n") ||
		!strings.HasSuffix(a, plantstest.ResponseJSON(plantstest.Example(7))+"\n") {
		c.t.Errorf("the request in flight got\n%s", a)
	}
}
