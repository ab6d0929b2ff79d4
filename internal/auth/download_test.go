package auth_test

import (
	"bufio"
	"cmp"
	"context"
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

// A site maps addresses to responses, each a whole HTTP/1.1 response or only a body. It
// needs no network, as synctest requires.
type site struct {
	mu       sync.Mutex
	pages    map[string]string
	delay    time.Duration            // of a response
	delays   map[string]time.Duration // additional delays of some addresses
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

// redirect returns a response that redirects to another address.
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

// checkLoad checks that the keys are loaded or, if want isn't empty, that the error is one
// line that contains want and no secrets.
func checkLoad(t *testing.T, v *auth.Verifier, want string) {
	t.Helper()
	got := fmt.Sprint(v.Load(t.Context()))
	if got == "<nil>" != (want == "") || !strings.Contains(got, want) || strings.ContainsAny(got, "\r\n") || strings.Contains(got, "secret") {
		t.Errorf("Load: got %s; want one line with %q", got, want)
	}
}

// An invalid response counts as a failed fetch. It is logged in a short line, and the known
// keys remain.
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
		"long status":    {"HTTP/1.1 " + long + "\r\n\r\n", "malformed HTTP status code"},
		"long redirect":  {redirect("https://b.test/" + long), "status 302 Found: the redirect to https://b.test/xxx"},
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
	v = newVerifier(t, auth.Config{KeysURL: "https://a.test/" + long}, &site{}, io.Discard)
	if err := v.Load(t.Context()); err == nil || len(err.Error()) > 500 {
		t.Errorf("a long address: got %v", err)
	}
	checkLoad(t, newVerifier(t, auth.Config{KeysURL: "https://a.test/%"}, nil, io.Discard), "invalid URL escape")
	v = newVerifier(t, auth.Config{KeysURL: keysURL}, &site{pages: map[string]string{keysURL: "HTTP/1.1 599 x\r\n\r\n"}}, io.Discard)
	if err := v.Load(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": status 599") {
		t.Errorf("a status without a name: got %q", err)
	}
}

// endless is a document without end. Its value is the number of bytes requested.
type endless int

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(e), Request: r}, nil
}

func (e *endless) Read(p []byte) (int, error) {
	if *e += endless(len(p)); *e > 4<<20 {
		return 0, io.EOF // otherwise a failing test would fill the memory
	}
	return len(p), nil
}

// Reading stops at the limit, since the whole document is kept in memory.
func TestEndlessDocument(t *testing.T) {
	var document endless
	checkLoad(t, newVerifier(t, auth.Config{KeysURL: keysURL}, &document, io.Discard), "more than 524288 bytes")
	if document > 2<<20 {
		t.Errorf("more than %d bytes were read", 2<<20)
	}
}

// hanging is a document whose body never arrives.
type hanging struct{ ctx context.Context }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.ctx = r.Context()
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(h), Request: r}, nil
}

func (h *hanging) Read([]byte) (int, error) {
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

// A fetch that times out in the middle of a document has failed. The request itself hasn't
// run out of time.
func TestHangingDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t)
		i.v = newVerifier(t, auth.Config{KeysURL: keysURL}, &hanging{}, io.Discard)
		i.took(t, "a", unavailable+": GET https://keys.test/k: context deadline exceeded", 3*time.Second)
	})
	synctest.Test(t, func(t *testing.T) {
		i, network := newRemoteIssuer(t), http.RoundTripper(nil)
		i.v = newVerifier(t, auth.Config{KeysURL: keysURL}, roundTripper(func(r *http.Request) (*http.Response, error) { return network.RoundTrip(r) }), io.Discard)
		i.set(0, "a")
		network = i
		i.took(t, "a", "", atOnce)
		network = &hanging{}
		i.took(t, "b", "newer keys are unknown: GET https://keys.test/k: context deadline exceeded", 3*time.Second)
	})
}

// Anybody can cause failing fetches, so warnings are limited to one a second.
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

// Redirects aren't followed, not even to an address with the keys. The error names it.
func TestRedirects(t *testing.T) {
	const here = "https://issuer.test/keys"
	jwks := string(authtest.NewIssuer(t).JWKS())
	for location, target := range map[string]string{
		"/moved":              "https://issuer.test/moved",
		"https://b.test/keys": "https://b.test/keys",
		"https://user:secret@b.test/login?secret": "https://b.test/login",
		"http://169.254.169.254/":                 "http://169.254.169.254/",
	} {
		for _, status := range []string{"301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"} {
			s := &site{pages: map[string]string{target: jwks, here: "HTTP/1.1 " + status + "\r\nLocation: " + location + "\r\n\r\n"}}
			want := "GET " + here + ": status " + status + ": the redirect to " + target + " isn't followed"
			checkLoad(t, newVerifier(t, auth.Config{KeysURL: here}, s, io.Discard), want)
			if len(s.requests) != 1 {
				t.Errorf("fetched %q", s.requests)
			}
		}
	}
}

// Only on this machine may metadata and keys be served without TLS.
func TestAddressOfKeys(t *testing.T) {
	long := "http://b.test/" + strings.Repeat("x", 10000)
	for address, want := range map[string]string{
		long:                            "must be https",
		"http://localhost/k":            "",
		"http://LocalHost:8080/k":       "",
		"http://127.0.0.1/k":            "",
		"http://[::1]/k":                "",
		"http://HOST.docker.internal/k": "",
		"https://b.test/k":              "",
		"http://b.test/k":               "must be https, except on this machine",
		"http://user:secret@b.test/k":   "must be https",
		"http://127.0.0.1.b.test/k":     "must be https",
		"http://10.0.0.1/k":             "must be https",
		"ftp://localhost/k":             "must be https",
		"https://user:secret@/k":        "no host",
		"file:///etc/hosts":             "no host",
		"https://b.test/%":              "not a valid URL",
		"":                              "no host",
	} {
		got := fmt.Sprint(auth.CheckURL(address))
		if got == "<nil>" != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "secret") || len(got) > 200 {
			t.Errorf("%.100s: got %s; want one short line with %q", address, got, want)
		}
	}
}

// A first fetch needs only one connection to an issuer, and closes it: between fetches,
// a connection could break unnoticed.
func TestConnections(t *testing.T) {
	var url string
	tokens, states := authtest.NewIssuer(t), make(chan http.ConnState, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
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

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
