package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A single is a listener that accepts one connection.
type single struct {
	net.Listener
	conn net.Conn
}

func (s *single) Accept() (conn net.Conn, err error) {
	if conn, s.conn = s.conn, nil; conn == nil {
		err = net.ErrClosed
	}
	return conn, err
}

func (*single) Close() error { return nil }

// A request has 9.5 s. A client that sends its body slowly is cut off earlier, and one that
// doesn't read its response later.
func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		go io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
		serve(t.Context(), &single{conn: conn}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			if deadline, _ := r.Context().Deadline(); time.Until(deadline) != 9500*time.Millisecond {
				t.Errorf("the context ends in %v", time.Until(deadline))
			}
			if _, err := io.ReadAll(r.Body); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 8*time.Second {
				t.Errorf("the body: after %v: %v", time.Since(start), err)
			}
			if _, err := w.Write(make([]byte, 1<<20)); err == nil || time.Since(start) != 30*time.Second {
				t.Errorf("the response: after %v: %v", time.Since(start), err)
			}
		}), io.Discard)
		time.Sleep(time.Minute) // serve doesn't wait for the request
	})
}

// A connection without requests is closed after two minutes.
func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		serve(t.Context(), &single{conn: conn}, http.NotFoundHandler(), io.Discard) // doesn't wait for the connection
		start := time.Now()
		io.Copy(io.Discard, client)
		if took := time.Since(start); took != 2*time.Minute {
			t.Errorf("closed after %v, want 2m", took)
		}
	})
}
