package dynamo_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/dynamolocal"
)

// newPiped returns a client whose connections lead to serve, for use in a synctest bubble.
// It uses the client's own transport, and therefore its limits. With the scheme https, serve
// gets the handshake.
func newPiped(t *testing.T, scheme string, serve func(net.Conn)) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "local", BaseEndpoint: aws.String(scheme + "://dynamodb.test"), Credentials: aws.AnonymousCredentials{},
	}, discard)
	if err != nil {
		t.Fatal(err)
	}
	transport := dynamo.Transport(client)
	transport.Proxy = nil // that of the shell would get another request
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			serve(theirs)
		}()
		return ours, nil
	}
	t.Cleanup(transport.CloseIdleConnections)
	return client
}

// silent reads what the client sends and never responds.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// responds reads requests and writes what respond writes.
func responds(respond func(io.Writer)) func(net.Conn) {
	return func(c net.Conn) {
		for br := bufio.NewReader(c); ; {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(time.Millisecond) // the client finishes with its request first, as over a network
			respond(c)
		}
	}
}

// headers are the headers of a response with a body of two bytes.
const headers = "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n"

// An attempt ends a second after its request was sent, and a call after six attempts. The
// comment above maxAttempts adds up the time.
func TestNoResponse(t *testing.T) {
	for _, op := range operations {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			err := op.call(t.Context(), dynamo.New(newPiped(t, "http", silent), "plants"))
			wantSentinel(t, op.name, err, plants.ErrUnreachable)
			if took := time.Since(start); took < 6*time.Second || took > 7250*time.Millisecond {
				t.Errorf("%s: it took %v, want 6 to 7.25 s", op.name, took)
			}
		})
	}
}

// A page of 480 KB arrives over a connection of 3 Mbit/s.
func TestSlowLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := strings.Repeat(`{"id":{"N":"7"},"name":{"S":"`+strings.Repeat("x", 256)+`"}},`, 1700)
		body := `{"Items":[` + strings.TrimSuffix(items, ",") + `]}`
		client := newPiped(t, "http", responds(func(w io.Writer) {
			fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n",
				len(body))
			for rest := body; rest != ""; {
				n := min(3_000_000/8/100, len(rest))
				time.Sleep(10 * time.Millisecond)
				_, _ = io.WriteString(w, rest[:n])
				rest = rest[n:]
			}
		}))
		start := time.Now()
		list, _, err := dynamo.New(client, "plants").List(t.Context(), "alice", nil, 2000)
		if took := time.Since(start); err != nil || len(list) != 1700 || len(body) < 480_000 || took < time.Second {
			t.Errorf("%d plants of %d bytes in %v, %v", len(list), len(body), took, err)
		}
	})
}

// If a body stops half-way, the call ends with its context.
func TestStalledBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newPiped(t, "http", responds(func(w io.Writer) {
			_, _ = io.WriteString(w, headers+"{")
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		wantSentinel(t, "List", list.call(ctx, dynamo.New(client, "plants")), context.DeadlineExceeded)
	})
}

// A connection that hangs fails in time for another attempt.
func TestHangingConnection(t *testing.T) {
	// newUndialed returns a client whose connections are never made.
	newUndialed := func(t *testing.T) *dynamodb.Client {
		base := awshttp.NewBuildableClient().WithDialerOptions(func(d *net.Dialer) {
			d.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
				<-ctx.Done()
				return ctx.Err()
			}
		})
		cfg := aws.Config{Region: "local", BaseEndpoint: aws.String("https://127.0.0.1:1"), HTTPClient: base}
		client, err := dynamo.NewClient(cfg, discard)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	for name, test := range map[string]struct {
		newClient func(*testing.T) *dynamodb.Client
		limit     time.Duration
	}{
		"dial":      {newUndialed, 6 * time.Second},
		"handshake": {func(t *testing.T) *dynamodb.Client { return newPiped(t, "https", silent) }, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := test.newClient(t)
			httpClient := client.Options().HTTPClient.(*http.Client)
			hanging := httpClient.Transport
			attempts, start := 0, time.Now()
			httpClient.Transport = dynamolocal.Fault(func(r *http.Request) (*http.Response, error) {
				if attempts++; attempts == 1 {
					return hanging.RoundTrip(r)
				}
				return dynamolocal.Reply(200, "{}")(r)
			})
			err := create.call(t.Context(), dynamo.New(client, "plants"))
			if took := time.Since(start); err != nil || took < test.limit || took > test.limit+50*time.Millisecond {
				t.Errorf("%s: got %v after %v, want success after %v", name, err, took, test.limit)
			}
		})
	}
}
