package dynamo_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"example.com/plantstore/internal/dynamo"
)

// The SDK closes the body of its request when the headers of the response arrive. The
// connection stays usable even if net/http hasn't yet sent the body.
func TestEarlyHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		client := newPiped(t, "http", func(c net.Conn) {
			connections++
			for br := bufio.NewReader(c); ; {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, headers)
				time.Sleep(10 * time.Millisecond)
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, "{}")
			}
		})
		for range 3 {
			if err := create.call(t.Context(), dynamo.New(client, "plants")); err != nil {
				t.Error(err)
			}
		}
		if connections != 1 {
			t.Errorf("%d connections, want one", connections)
		}
	})
}

// If an attempt times out, the idle connections may be dead, too, so the next attempt makes a new
// one. If only the call's own context has ended, they may be alive: they stay.
func TestDeadConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 30
		var connections, dead atomic.Int64
		client := newPiped(t, "http", func(c net.Conn) {
			number := connections.Add(1)
			responds(func(w io.Writer) {
				time.Sleep(100 * time.Millisecond)
				if number > dead.Load() {
					_, _ = io.WriteString(w, headers+"{}")
				}
			})(c)
		})
		store := dynamo.New(client, "plants")
		lists := func(calls int, want int64) {
			t.Helper()
			var wg sync.WaitGroup
			for range calls {
				wg.Go(func() {
					if err := list.call(t.Context(), store); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if n := connections.Load(); n != want {
				t.Errorf("%d connections so far, want %d", n, want)
			}
		}
		lists(many, many)

		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		wantSentinel(t, "List", list.call(short, store), context.DeadlineExceeded)
		lists(many-1, many)

		dead.Store(many)
		start := time.Now()
		lists(1, many+1)
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("the first call after the connections died took %v", took)
		}
	})
}

// If the first name server is down, the resolver needs 5 s. The call still succeeds.
func TestDeadNameServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	// Package net makes a channel in its first lookup, which a bubble can't share with others.
	_, _ = (&net.Resolver{PreferGo: true}).LookupHost(t.Context(), "localhost")
	synctest.Test(t, func(t *testing.T) {
		var silentAt atomic.Int64 // when the dead name server got its last query
		base := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.Proxy = nil // that of the shell would do the lookup
		}).WithDialerOptions(func(d *net.Dialer) {
			d.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				now := time.Now().UnixMilli()
				if waited := now - silentAt.Load(); waited > 4500 && waited < 5500 {
					go resolve(theirs) // the same lookup asks the next name server
				} else {
					silentAt.Store(now)
					go silent(theirs)
				}
				return ours, nil
			}}
		})
		client, err := dynamo.NewClient(aws.Config{
			BaseEndpoint: aws.String("http://dynamodb.test:" + port),
			HTTPClient:   base,
		}, discard)
		if err != nil {
			t.Fatal(err)
		}
		defer dynamo.Transport(client).CloseIdleConnections()
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		if err := list.call(ctx, dynamo.New(client, "plants")); err != nil {
			t.Error(err)
		}
	})
}

// resolve answers a DNS query over TCP: each name has the address 127.0.0.1.
func resolve(c net.Conn) {
	defer c.Close()
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, query); err != nil {
		return
	}
	end := 12 // of the question, which follows the header: labels, a zero, type and class
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5
	response := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
	if query[end-3] == 1 { // type A
		response[7] = 1 // answer
		response = append(response, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1)
	}
	_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(response))), response...))
}
