package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// A bodyServer serves large bodies through limitReaders, and records the maximum
// number of bodies at once. It keeps little of them in kernel buffers.
type bodyServer struct {
	*httptest.Server
	most atomic.Int64
}

const bodySize = 4 << 20

func newBodyServer(t *testing.T, limit int) *bodyServer {
	s := new(bodyServer)
	body := make([]byte, bodySize)
	var held atomic.Int64
	s.Server = httptest.NewUnstartedServer(limitReaders(limit, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := held.Add(1)
		defer held.Add(-1)
		for old := s.most.Load(); n > old && !s.most.CompareAndSwap(old, n); old = s.most.Load() {
		}
		w.Write(body)
	})))
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		c.(*net.TCPConn).SetWriteBuffer(64 << 10)
		return ctx
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// get returns the body of a response, or fails if that takes longer than
// clients that don't read may take.
func (s *bodyServer) get(t *testing.T) io.ReadCloser {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			c.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return c, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: writeTimeout}
	resp, err := client.Get(s.URL)
	if err != nil {
		t.Error(err)
		return http.NoBody
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp.Body
}

// Clients that don't read hold at most limit bodies. Another client gets its
// whole response.
func TestLimitReaders(t *testing.T) {
	const limit = 2
	s := newBodyServer(t, limit)
	for range 3 * limit {
		s.get(t) // and don't read
	}
	if n, err := io.Copy(io.Discard, s.get(t)); err != nil || n != bodySize {
		t.Errorf("the client that reads got %d bytes, %v, want %d", n, err, bodySize)
	}
	if most := s.most.Load(); most != limit {
		t.Errorf("%d bodies at once, want %d", most, limit)
	}
}

// A client may take its time while nobody waits, and also later if it reads.
func TestSlowReader(t *testing.T) {
	s := newBodyServer(t, 1)
	slow := s.get(t)
	time.Sleep(2 * stallTimeout)
	const part = bodySize / 32
	if _, err := io.CopyN(io.Discard, slow, 16*part); err != nil {
		t.Fatalf("the client was cut off although nobody waited: %v", err)
	}
	waiter := make(chan io.ReadCloser)
	go func() { waiter <- s.get(t) }()
	for range 16 {
		time.Sleep(stallTimeout / 10)
		if _, err := io.CopyN(io.Discard, slow, part); err != nil {
			t.Fatalf("the client was cut off although it read: %v", err)
		}
	}
	<-waiter
}
