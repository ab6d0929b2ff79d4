package auth_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

const (
	notFound = "HTTP/1.1 404 Not Found\r\n\r\n"
	ok       = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
)

// A site maps addresses to what a server sends, in HTTP/1.1 or as the body
// alone. It needs no network, as synctest requires.
type site struct {
	mu       sync.Mutex
	pages    map[string]string
	delay    time.Duration            // of a response
	delays   map[string]time.Duration // further ones, of some addresses
	requests []string
}

func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	s.mu.Lock()
	s.requests = append(s.requests, url)
	page, found := s.pages[url]
	delay := s.delay + s.delays[url]
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	switch {
	case !found:
		page = notFound
	case page != "" && !strings.HasPrefix(page, "HTTP/"):
		page = ok + page
	}
	return http.ReadResponse(bufio.NewReader(strings.NewReader(page)), r)
}

// redirect is the answer that leads to another address.
func redirect(to string) string { return "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\n\r\n" }

// newVerifier returns a verifier with keys from this network.
func newVerifier(t *testing.T, c auth.Config, network http.RoundTripper, log io.Writer) *auth.Verifier {
	t.Helper()
	c.Issuer, c.Audiences = cmp.Or(c.Issuer, authtest.IssuerURL), []string{authtest.Audience}
	v, err := auth.New(c, []string{"plants/read", "plants/write"}, &http.Client{Transport: network}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkLoad checks that the keys are loaded or, if want isn't empty, that the
// error is one line with want in it and without secrets.
func checkLoad(t *testing.T, v *auth.Verifier, want string) {
	t.Helper()
	got := fmt.Sprint(v.Load(t.Context()))
	if got == "<nil>" != (want == "") || !strings.Contains(got, want) || strings.ContainsAny(got, "\r\n") || strings.Contains(got, "secret") {
		t.Errorf("Load: got %s; want one line with %q", got, want)
	}
}

// An invalid response counts as a failed fetch, is logged in a short line, and leaves the
// keys as they are.
func TestResponses(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	valid := string(issuer.JWKS())
	const url = "https://issuer.test/keys"
	long := strings.Repeat("x", 10000)
	for name, test := range map[string]struct{ page, want string }{
		"500 with keys":  {"HTTP/1.1 500 Internal Server Error\r\n\r\n" + valid, "GET " + url + ": status 500 Internal Server Error"},
		"HTML":           {"\x00\xff<html>", `GET ` + url + `: not a JSON Web Key Set, which looks like {"keys": […]} (content type "text/plain")`},
		"closed at once": {"", "GET " + url + ": unexpected EOF"},
		"closed early":   {"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + valid, "unexpected EOF"},
		"too large":      {valid + strings.Repeat(" ", 512<<10-len(valid)+1), "more than 524288 bytes"},
		"login page":     {redirect("https://user:secret@b.test/login?secret"), "GET https://b.test/login: status 404"},
		"long status":    {"HTTP/1.1 " + long + "\r\n\r\n", "malformed HTTP status code"},
		"long path":      {redirect("https://b.test/" + long), "status 404"},
		"long, no host":  {redirect("https:///" + long), "has no host"},
		"long, no https": {redirect("http://b.test/" + long), "must be https, except on this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{pages: map[string]string{url: valid + strings.Repeat(" ", 512<<10-len(valid))}}
			var log strings.Builder
			v := newVerifier(t, auth.Config{KeysURL: url}, s, &log)
			checkLoad(t, v, "")
			if log.Len() != 0 {
				t.Errorf("got the log %s", &log)
			}
			s.pages[url] = test.page
			checkLoad(t, v, test.want)
			check(t, v, issuer.Token("alice"), "")
			if n := strings.Count(log.String(), "\n"); n != 1 || len(log.String()) > 500 {
				t.Errorf("got the log %s; want one line about the fetch", log.String())
			}
		})
	}
	v := newVerifier(t, auth.Config{KeysURL: "http://user:secret@127.0.0.1:1/keys?secret"}, nil, io.Discard)
	checkLoad(t, v, "GET http://127.0.0.1:1/keys: ")
	checkLoad(t, newVerifier(t, auth.Config{KeysURL: "https://a.test/%"}, nil, io.Discard), "invalid URL escape")
	v = newVerifier(t, auth.Config{KeysURL: keysURL}, &site{pages: map[string]string{keysURL: "HTTP/1.1 599 x\r\n\r\n"}}, io.Discard)
	if err := v.Load(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": status 599") {
		t.Errorf("a status without a name: got %q", err)
	}
}

// endless is a document without end. Its value is how many bytes of it were asked for.
type endless int

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(e), Request: r}, nil
}

func (e *endless) Read(p []byte) (int, error) {
	if *e += endless(len(p)); *e > 4<<20 {
		return 0, io.EOF // or the test would fill the memory
	}
	return len(p), nil
}

// A document is read no further than its limit, since all of it is kept in memory.
func TestEndlessDocument(t *testing.T) {
	var document endless
	checkLoad(t, newVerifier(t, auth.Config{KeysURL: keysURL}, &document, io.Discard), "more than 524288 bytes")
	if document > 2<<20 {
		t.Errorf("more than %d bytes were read", 2<<20)
	}
}

// Anybody can cause fetches, which may all fail at once.
func TestWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		v := newVerifier(t, auth.Config{KeysURL: keysURL}, &site{}, &log)
		for range 3 {
			checkLoad(t, v, "status 404")
		}
		time.Sleep(time.Second - ms)
		checkLoad(t, v, "status 404")
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("got %d warnings in a second, want 1:\n%s", n, &log)
		}
		time.Sleep(ms)
		checkLoad(t, v, "status 404")
		if n := strings.Count(log.String(), "level=WARN"); n != 2 {
			t.Errorf("got %d warnings after a second, want 2:\n%s", n, &log)
		}
	})
}

func TestRedirects(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	for _, test := range []struct {
		route string // addresses, each but the last redirecting to the next
		want  string // in the error
	}{
		{"http://localhost/1 http://127.0.0.1/2 https://b.test/3", ""},
		{"http://[::1]/1 http://HOST.docker.internal/2 http://LocalHost/3 http://[::1]/4", ""},
		{"https://a.test/1 https://a.test/2 https://a.test/3 https://a.test/4", ""},
		{"https://a.test/1 https://a.test/2 https://a.test/3 https://a.test/4 https://a.test/5", "more than 3 redirects"},
		{"http://localhost/1 http://user:secret@b.test/2?secret", "must be https"},
		{"http://localhost/1 https://user:secret@/2", "no host"},
		{"http://localhost/1 http://127.0.0.1.b.test/2", "must be https"},
		{"http://localhost/1 ftp://localhost/2", "must be https"},
		{"http://localhost/1 file:///etc/hosts", "no host"},
	} {
		route := strings.Fields(test.route)
		s := &site{pages: map[string]string{route[len(route)-1]: string(issuer.JWKS())}}
		for i, url := range route[:len(route)-1] {
			s.pages[url] = redirect(route[i+1])
		}
		checkLoad(t, newVerifier(t, auth.Config{KeysURL: route[0]}, s, io.Discard), test.want)
	}
}

// A fetch needs one connection to an issuer, even if a document isn't there, and
// closes it. Between fetches a connection would die unnoticed.
func TestConnections(t *testing.T) {
	var url string
	tokens, states := authtest.NewIssuer(t), make(chan http.ConnState, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			io.WriteString(w, metadata(url, url+"/keys"))
		case "/keys":
			w.Write(tokens.JWKS())
		default:
			http.NotFound(w, r)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew || state == http.StateClosed {
			states <- state
		}
	}
	server.Start()
	defer server.Close()
	url = server.URL
	checkLoad(t, newVerifier(t, auth.Config{Issuer: url}, http.DefaultTransport, io.Discard), "")
	timeout := time.After(time.Minute) // an idle connection stays open for longer
	for _, want := range []http.ConnState{http.StateNew, http.StateClosed} {
		select {
		case state := <-states:
			if state != want {
				t.Errorf("a connection was %v, want %v", state, want)
			}
		case <-timeout:
			t.Errorf("no connection was %v", want)
		}
	}
	if n := len(states); n != 0 {
		t.Errorf("%d changes of other connections, want none", n)
	}
}
