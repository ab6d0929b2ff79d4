package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// Clients that don't read their responses hold at most limit bodies, and lose
// their connections. Another client gets its whole response.
func TestLimitReaders(t *testing.T) {
	const limit, unread = 2, 6
	body := make([]byte, 16<<20) // more than the kernel buffers
	var held, most atomic.Int64
	arrived := make(chan struct{}, unread+1)
	server := httptest.NewServer(limitReaders(limit, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := held.Add(1)
		defer held.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		arrived <- struct{}{}
		w.Write(body)
	})))
	defer server.Close()
	for range unread {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	for range limit {
		<-arrived
	}
	resp, err := (&http.Client{Timeout: writeTimeout}).Get(server.URL) // waiting for those timeouts takes longer
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(len(body)) {
		t.Errorf("the client that reads got %d bytes, %v, want %d", n, err, len(body))
	}
	if most.Load() != limit {
		t.Errorf("%d bodies at once, want %d", most.Load(), limit)
	}
}

// While nobody waits, a client may take its time.
func TestPatienceWithSlowReader(t *testing.T) {
	body := make([]byte, 16<<20)
	server := httptest.NewServer(limitReaders(1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(body)
	})))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	time.Sleep(2 * stallTimeout)
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(len(body)) {
		t.Errorf("got %d bytes, %v, want %d", n, err, len(body))
	}
}
