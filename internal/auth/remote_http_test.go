package auth_test

import (
	"bufio"
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func remoteKeys(t *testing.T, url string, transport http.RoundTripper) (*auth.RemoteKeySet, *auth.Verifier) {
	t.Helper()
	keys, err := auth.RemoteKeys(url, &http.Client{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return keys, authtest.NewIssuer(t).VerifierOf(t, auth.Config{Keys: keys})
}

// An answer is what a server sends before it closes the connection.
type answer struct{ text string }

func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(strings.NewReader(a.text)), r)
}

// An invalid response counts as a failed fetch and leaves the keys as they are.
func TestInvalidResponses(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	const ok = "HTTP/1.1 200 OK\r\n\r\n"
	valid := string(issuer.JWKS())
	for name, text := range map[string]string{
		"500 with keys":  "HTTP/1.1 500 Internal Server Error\r\n\r\n" + valid,
		"HTML":           ok + "\x00\xff<html>",
		"no keys":        ok + `{"keys":[]}`,
		"closed at once": "",
		"closed early":   "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + valid,
		"too large":      ok + valid + strings.Repeat(" ", 512<<10),
	} {
		t.Run(name, bubble(func(t *testing.T) {
			a := &answer{text}
			keys, v := remoteKeys(t, "https://issuer.test/keys", a)
			failed := make(chan error, 10)
			keys.OnFailure = func(err error) { failed <- err }
			check(t, v, issuer.Token("alice"), auth.ErrKeysUnavailable)
			select {
			case err := <-failed:
				if strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 400 {
					t.Errorf("got %v; want one line for the log", err)
				}
			default:
				t.Error("OnFailure was not called")
			}
			a.text = ok + valid
			if err := keys.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.text = text
			if err := keys.Load(t.Context()); err == nil {
				t.Error("Load accepted the response")
			}
			check(t, v, issuer.Token("alice"), nil)
		}))
	}
}

// A transport is an http.RoundTripper without a network.
type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := f(r)
	resp.Request, resp.Status = r, http.StatusText(resp.StatusCode)
	return resp, nil
}

func TestHugeBody(t *testing.T) {
	body := &io.LimitedReader{R: rand.Reader, N: 16 << 20}
	keys, _ := remoteKeys(t, "https://issuer.test/keys", transport(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}
	}))
	if err := keys.Load(t.Context()); err == nil || body.N < 15<<20 {
		t.Errorf("got %v with %d bytes left", err, body.N)
	}
}

func TestRedirects(t *testing.T) { synctest.Test(t, testRedirects) }

func testRedirects(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	for _, test := range []struct {
		route string // addresses, each but the last redirecting to the next
		ok    bool
	}{
		{"https://a.test/1 https://b.test/2", true},
		{"http://localhost/1 http://127.0.0.1/2 https://b.test/3", true},
		{"https://a.test/1 https://a.test/2 https://a.test/3 https://a.test/4", true},
		{"https://a.test/1 https://a.test/2 https://a.test/3 https://a.test/4 https://a.test/5", false},
		{"https://a.test/1 http://localhost/2", false},
		{"http://localhost/1 https://a.test/2 http://localhost/3", false},
		{"http://localhost/1 http://b.test/2", false},
		{"http://localhost/1 file:///etc/hosts", false},
	} {
		route := strings.Fields(test.route)
		keys, v := remoteKeys(t, route[0], transport(func(r *http.Request) *http.Response {
			for i, url := range route[:len(route)-1] {
				if r.URL.String() == url {
					return &http.Response{StatusCode: http.StatusFound, Body: http.NoBody, Header: http.Header{"Location": route[i+1 : i+2]}}
				}
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(issuer.JWKS())))}
		}))
		want := auth.ErrKeysUnavailable
		if test.ok {
			want = nil
		}
		if err := keys.Load(t.Context()); (err == nil) != test.ok {
			t.Errorf("%s: got %v; want success %t", test.route, err, test.ok)
		}
		check(t, v, issuer.Token("alice"), want)
	}
}

func TestKeySetURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://issuer.test/keys":            true,
		"HTTPS://issuer.test/keys":            true,
		"http://LOCALHOST:8080/keys":          true,
		"http://127.1.2.3:8080":               true,
		"http://[::1]/keys":                   true,
		"http://host.docker.internal:8080":    true,
		"http://issuer.test/keys":             false,
		"http://localhost.issuer.test/keys":   false,
		"http://10.0.0.1/keys":                false,
		"http://127.0.0.1.issuer.test":        false,
		"http://localhost@issuer.test":        false,
		"ftp://localhost/keys":                false,
		"https:///keys":                       false,
		"":                                    false,
		"https://issuer.test/%zz":             false,
		"http://user:secret@issuer.test/keys": false,
		"http://issuer.test/keys?secret":      false,
		"https:user:secret@issuer.test":       false,
		"https:///keys#secret":                false,
	} {
		keys, err := auth.RemoteKeys(address, nil)
		if (err == nil) != ok || (keys != nil) != ok {
			t.Errorf("%s: got %v, %v; want success %t", address, keys, err, ok)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error contains a secret: %v", err)
		}
	}
}
