package dynamo_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"

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

// If an attempt times out on a connection that was idle, the others may be dead, too, so the
// next attempt makes a new one. If the call's own context has ended, or if a new connection
// doesn't respond, the idle ones may be alive: they stay.
func TestDeadConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 30
		var connections, dead atomic.Int64
		client := newPiped(t, "http", func(c net.Conn) {
			number := connections.Add(1)
			responds(func(w io.Writer) {
				time.Sleep(100 * time.Millisecond)
				if number > dead.Load() && number != many+1 {
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
		lists(1, many)

		lists(many, many+1)   // the short call has closed its connection, so one of these is new and doesn't respond
		lists(many-1, many+1) // its retry used an idle one

		dead.Store(connections.Load())
		start := time.Now()
		lists(1, many+2)
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("the first call after the connections died took %v", took)
		}
	})
}

// If the first name server is down, the resolver needs 5 s. If one of the addresses doesn't
// respond, the next one follows after a second. The call still succeeds.
func TestDeadNameServerAndAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	// Package net makes a channel in its first lookup, which a bubble can't share with others.
	_, _ = (&net.Resolver{PreferGo: true}).LookupHost(t.Context(), "localhost")
	synctest.Test(t, func(t *testing.T) {
		dials := 0
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
			d.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
				if dials++; dials == 1 {
					<-ctx.Done()
				}
				return ctx.Err()
			}
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
		if err := list.call(ctx, dynamo.New(client, "plants")); err != nil || dials != 2 {
			t.Errorf("%v after %d dials, want success with the second", err, dials)
		}
	})
}

// If the addresses of one family swallow packets, the second attempt reaches the other one.
func TestMixFamilies(t *testing.T) {
	for _, test := range []struct{ ips, want string }{
		{"", ""}, {"::1", "::1"}, {"::1 ::2", "::1 ::2"}, {"10.0.0.1 ::1 ::2", "10.0.0.1 ::1 ::2"},
		{"::1 ::2 ::3 10.0.0.1 10.0.0.2", "::1 10.0.0.1 ::3 ::2 10.0.0.2"},
		{"10.0.0.1 10.0.0.2 ::1", "10.0.0.1 ::1 10.0.0.2"},
	} {
		ips := strings.Fields(test.ips)
		if dynamo.MixFamilies(ips); strings.Join(ips, " ") != test.want {
			t.Errorf("%s: got %q, want %s", test.ips, ips, test.want)
		}
	}
}

// resolve answers a DNS query over TCP: each name has the address 127.0.0.1, twice.
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
		response[7] = 2 // answers
		for range response[7] {
			response = append(response, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1)
		}
	}
	_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(response))), response...))
}

// A request that net/http refuses isn't an outage, and a retry wouldn't help.
func TestRefusedByNetHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := dynamo.NewClient(aws.Config{
			BaseEndpoint: aws.String("http://dynamodb.test"),
			Credentials:  credentials.NewStaticCredentialsProvider("id\n", "secret", ""), // from a file, for example
		}, discard)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = list.call(t.Context(), dynamo.New(client, "plants"))
		wantSentinel(t, "List", err, nil)
		if took := time.Since(start); took != 0 || !strings.Contains(fmt.Sprint(err), "invalid header") {
			t.Errorf("got %v after %v, want net/http's reason at once", err, took)
		}
	})
}

// Nor is a certificate that isn't trusted.
func TestUntrustedCertificate(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	client, err := dynamo.NewClient(aws.Config{
		BaseEndpoint: &server.URL,
		Region:       "local",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}, discard)
	if err != nil {
		t.Fatal(err)
	}
	err = list.call(t.Context(), dynamo.New(client, "plants"))
	wantSentinel(t, "List", err, nil)
	if n := connections.Load(); n != 1 || !strings.Contains(fmt.Sprint(err), "certificate") {
		t.Errorf("got %v after %d attempts, want the reason after one", err, n)
	}
}
