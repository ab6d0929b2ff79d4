package main

import (
	"io"
	"net"
	"net/http"
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

// A request has 9.5 s, and a client that doesn't read its response is cut off.
func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		serve(t.Context(), &single{conn: conn}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			if deadline, _ := r.Context().Deadline(); time.Until(deadline) != requestTimeout {
				t.Errorf("the context ends in %v, want %v", time.Until(deadline), requestTimeout)
			}
			if _, err := w.Write(make([]byte, 1<<20)); err == nil || time.Since(start) != 30*time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		}), io.Discard)
		time.Sleep(time.Minute) // serve doesn't wait for the request
	})
}
