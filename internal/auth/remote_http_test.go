package auth_test

import (
	"context"
	"crypto"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// serve starts a server of keys and returns the verifier that uses it, and the
// number of requests that it got.
func serve(t *testing.T, h http.HandlerFunc) (*auth.RemoteKeySet, *auth.Verifier, *atomic.Int32) {
	t.Helper()
	requests := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		h(w, r)
	}))
	t.Cleanup(server.Close)
	keys, v := remote(t, server.URL, nil)
	return keys, v, requests
}

func remote(t *testing.T, url string, client *http.Client) (*auth.RemoteKeySet, *auth.Verifier) {
	t.Helper()
	keys, err := auth.RemoteKeys(url, client)
	if err != nil {
		t.Fatal(err)
	}
	return keys, authtest.NewIssuer(t).VerifierOf(t, auth.Config{Keys: keys})
}

func TestManyUnknownKids(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	keys, v, requests := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(issuer.JWKS()) })
	if err := keys.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 500 {
		header := fmt.Sprintf(`{"alg":"ES256","kid":"k%d"}`, n)
		check(t, v, compact(header, claimsWith(nil), ecSigner(issuer.ECKey, crypto.SHA256)), auth.ErrInvalidToken)
	}
	check(t, v, issuer.Token("alice"), nil)
	// The first looks for its kid; one more if the 500 take over 30 seconds.
	if n := requests.Load(); n < 2 || n > 3 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestRotatedKeys(t *testing.T) {
	old, next := authtest.NewIssuer(t), authtest.NewIssuer(t)
	var current atomic.Pointer[[]byte]
	publish := func(jwks []byte) { current.Store(&jwks) }
	keys, v, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(*current.Load()) })
	rotated := func() string {
		return compact(`{"alg":"ES256","kid":"next"}`, claimsWith(nil), ecSigner(next.ECKey, crypto.SHA256))
	}
	publish(old.JWKS())
	check(t, v, old.Token("alice"), nil)
	publish(keySet(ecJWK(&old.ECKey.PublicKey, authtest.KeyID), ecJWK(&next.ECKey.PublicKey, "next")))
	check(t, v, rotated(), nil)
	check(t, v, old.Token("alice"), nil)
	publish(keySet(ecJWK(&next.ECKey.PublicKey, "next")))
	if err := keys.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, v, rotated(), nil)
	check(t, v, old.Token("alice"), auth.ErrInvalidToken)
}

// A bad answer is a failed fetch, and changes nothing.
func TestBadAnswers(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	for name, answer := range map[string]http.HandlerFunc{
		"404":         func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"500 and set": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); w.Write(issuer.JWKS()) },
		"204":         func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) },
		"empty":       func(w http.ResponseWriter, r *http.Request) {},
		"garbage":     func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "\x00\xff<html>") },
		"no keys":     func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"keys":[]}`) },
		"cut off":     func(w http.ResponseWriter, r *http.Request) { w.Write(issuer.JWKS()[:100]) },
		"ends early": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000")
			w.Write(issuer.JWKS())
		},
		"hangs up": func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
		"silent":   func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"slow": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"keys":[`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"a little too large": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Repeat(" ", 512<<10))
			w.Write(issuer.JWKS())
		},
		"too much white space": func(w http.ResponseWriter, r *http.Request) {
			w.Write(issuer.JWKS())
			io.WriteString(w, strings.Repeat(" ", 512<<10))
		},
		"redirects without end": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) },
		"redirect to plain http": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/", http.StatusFound)
		},
		"redirect to a file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/hosts", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var good atomic.Bool
			keys, v, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if good.Load() {
					w.Write(issuer.JWKS())
				} else {
					answer(w, r)
				}
			})
			failed := make(chan error, 10)
			keys.OnFailure = func(err error) { failed <- err }
			check(t, v, issuer.Token("alice"), auth.ErrKeysUnavailable)
			if n := requests.Load(); n > 4 {
				t.Errorf("%d requests for one fetch", n)
			}
			err := <-failed
			if strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 400 {
				t.Errorf("want one line for the log, got %v", err)
			}
			good.Store(true)
			if err := keys.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			good.Store(false)
			if err := keys.Load(t.Context()); err == nil {
				t.Error("Load of a bad answer: no error")
			}
			check(t, v, issuer.Token("alice"), nil)
		})
	}
}

// An answer without end is given up when it is too large, not when time is up.
func TestEndlessAnswer(t *testing.T) {
	written := make(chan int, 1)
	keys, _, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		total := 0
		for spaces := []byte(strings.Repeat(" ", 1<<16)); ; {
			n, err := w.Write(spaces)
			if total += n; err != nil || total >= 1<<28 {
				written <- total
				return
			}
		}
	})
	if err := keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 524288 bytes") {
		t.Errorf("got %v, want an error that names the bound", err)
	}
	// What was under way in the buffers of the sockets counts, too.
	if n := <-written; n >= 1<<26 {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestServerDownThenBack(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	address := listener.Addr().String()
	listener.Close()
	keys, v := remote(t, "http://"+address, nil)
	check(t, v, issuer.Token("alice"), auth.ErrKeysUnavailable)
	if err := keys.Load(t.Context()); err == nil {
		t.Error("Load without a server: no error")
	}
	listener, err = net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(issuer.JWKS()) })}
	go server.Serve(listener)
	defer server.Close()
	if err := keys.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, v, issuer.Token("alice"), nil)
}

func TestRedirects(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	var target string
	var plain, secure *httptest.Server
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/keys":
			w.Write(issuer.JWKS())
		case "/here":
			http.Redirect(w, r, "/keys", http.StatusFound)
		case "/there":
			http.Redirect(w, r, target, http.StatusFound)
		case "/plain":
			http.Redirect(w, r, plain.URL+"/keys", http.StatusFound)
		}
	})
	plain, secure = httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	for _, test := range []struct {
		name, from, to string
		ok             bool
	}{
		{"https to https", secure.URL + "/here", "", true},
		{"http to http on this machine", plain.URL + "/here", "", true},
		{"http to https", plain.URL + "/there", secure.URL + "/keys", true},
		{"https to http", secure.URL + "/there", plain.URL + "/keys", false},
		{"https to http in two steps", secure.URL + "/there", secure.URL + "/plain", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			target = test.to
			keys, v := remote(t, test.from, secure.Client())
			if err := keys.Load(t.Context()); (err == nil) != test.ok {
				t.Errorf("Load: got %v, want success %t", err, test.ok)
			}
			want := auth.ErrKeysUnavailable
			if test.ok {
				want = nil
			}
			check(t, v, issuer.Token("alice"), want)
		})
	}
}

// Even where another machine would answer with good keys over plain http, they
// are not taken.
func TestRedirectToAnotherMachine(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "elsewhere.test" {
			w.Write(issuer.JWKS())
			return
		}
		http.Redirect(w, r, "http://elsewhere.test/keys", http.StatusFound)
	}))
	defer server.Close()
	everywhere := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}
	keys, v := remote(t, server.URL, &http.Client{Transport: everywhere})
	if err := keys.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "must be https") {
		t.Errorf("got %v, want an error that says why", err)
	}
	check(t, v, issuer.Token("alice"), auth.ErrKeysUnavailable)
}

func TestKeysAddress(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://issuer.test/keys":            true,
		"HTTPS://issuer.test/keys":            true,
		"http://localhost:8080/keys":          true,
		"http://LOCALHOST/keys":               true,
		"http://127.0.0.1:8080":               true,
		"http://127.1.2.3:8080":               true,
		"http://[::1]/keys":                   true,
		"http://host.docker.internal:8080":    true,
		"http://issuer.test/keys":             false,
		"http://localhost.issuer.test/keys":   false,
		"http://10.0.0.1/keys":                false,
		"http://[2001:db8::1]/keys":           false,
		"http://127.0.0.1.issuer.test":        false,
		"http://localhost@issuer.test":        false,
		"ftp://localhost/keys":                false,
		"file:///keys":                        false,
		"https:///keys":                       false,
		"https:issuer.test":                   false,
		"issuer.test/keys":                    false,
		"":                                    false,
		"https://issuer.test/%zz":             false,
		"http://user:secret@issuer.test/keys": false,
	} {
		keys, err := auth.RemoteKeys(address, nil)
		if (err == nil) != ok || (keys != nil) != ok {
			t.Errorf("%s: got %v, %v; want success %t", address, keys, err, ok)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats a password: %v", err)
		}
	}
}
