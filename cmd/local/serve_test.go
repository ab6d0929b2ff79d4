package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
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

// A request has a limited time. A client that sends its body slowly is cut off earlier, and one that
// doesn't read its response later.
func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		go io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
		serve(t.Context(), &single{conn: conn}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			if deadline, _ := r.Context().Deadline(); time.Until(deadline) != requestTimeout {
				t.Errorf("the context ends in %v", time.Until(deadline))
			}
			if _, err := io.ReadAll(r.Body); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) >= requestTimeout {
				t.Errorf("the body: after %v: %v", time.Since(start), err)
			}
			if _, err := w.Write(make([]byte, 1<<20)); err == nil || time.Since(start) <= requestTimeout {
				t.Errorf("the response: after %v: %v", time.Since(start), err)
			}
		}), nil, io.Discard)
		time.Sleep(time.Minute) // serve doesn't wait for the request
	})
}

// A request ends by its time, not with its client: one that only closes its sending side
// still gets its response, and a create is carried out even if the client is gone.
func TestClientClosesItsSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		request := strings.NewReader("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // until the server has noticed
			if err := r.Context().Err(); err != nil {
				t.Errorf("the context has ended: %v", err)
			}
		})
		go serve(t.Context(), &single{conn: closedSide{conn, request}}, handler, nil, io.Discard)
		if response, err := io.ReadAll(client); err != nil || !strings.HasPrefix(string(response), "HTTP/1.1 200 OK\r\n") {
			t.Errorf("got %q, %v", response, err)
		}
	})
}

// A closedSide is a connection on which the client sends a request and nothing more.
type closedSide struct {
	net.Conn
	request io.Reader
}

func (c closedSide) Read(b []byte) (int, error) { return c.request.Read(b) }

// A connection without requests outlives those of proxies, of which some keep theirs for ten
// minutes.
func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		serve(t.Context(), &single{conn: conn}, http.NotFoundHandler(), nil, io.Discard) // doesn't wait for the connection
		start := time.Now()
		io.Copy(io.Discard, client)
		if took := time.Since(start); took <= 10*time.Minute {
			t.Errorf("closed after %v", took)
		}
	})
}

// The start-up messages are for the operating system's usual shell. README's session has the
// commands for Unix.
func TestBanner(t *testing.T) {
	for goos, commands := range map[string]string{
		"windows": `  $token = (Invoke-RestMethod http://x/oauth2/token -Method Post ` +
			`-Body @{ grant_type = "client_credentials"; client_id = "alice" }).access_token
  Invoke-RestMethod http://x/plants -Method Post -ContentType application/json ` +
			`-Headers @{ Authorization = "Bearer $token" } -Body '` + firstPlant + `'`,
		"linux": `  TOKEN=$(curl -sS -d grant_type=client_credentials -d client_id=alice http://x/oauth2/token ` +
			`| cut -d'"' -f4)
  curl -sS -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" ` +
			`-d '` + firstPlant + `' http://x/plants`,
	} {
		var out strings.Builder
		banner(&out, "http://x", "y", true, goos)
		want := "listening on http://x\nplants are kept in y\ntry it in a browser: http://x/\n" +
			"get a token, here for alice, valid for 60 minutes, and create a plant:\n" + commands + "\n\n"
		if got := out.String(); got != want {
			t.Errorf("on %s it prints\n%s\nwant\n%s", goos, got, want)
		}
	}
}
