package e2e

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/tools"
)

// A keyServer serves the keys of an issuer, or fails to.
type keyServer struct {
	*httptest.Server
	handler atomic.Pointer[http.HandlerFunc]
	fetches atomic.Int32
}

func newKeyServer(t *testing.T, handler http.HandlerFunc) *keyServer {
	s := new(keyServer)
	s.set(handler)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fetches.Add(1)
		(*s.handler.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) set(handler http.HandlerFunc) { s.handler.Store(&handler) }

// publish serves a key set.
func publish(jwks []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(jwks) }
}

// hang doesn't answer.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// down answers with a server error.
func down(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

// startRemote starts a function that fetches the keys of the issuer.
func startRemote(t *testing.T, issuer *authtest.Issuer, keys *keyServer) *function {
	t.Helper()
	o := functionOptions(t, dynamolocal.Endpoint(t), config.TokenJWKSURL+"="+keys.URL)
	o.Freeze, o.Concurrency = true, 1 // a single process has the keys
	return startFunction(t, issuer, o)
}

// While the keys are unavailable, at init or later, requests with a token are
// answered 503. Once the keys are available they succeed.
func TestLambdaKeysUnavailable(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{"down": down, "hanging": hang, "malformed": publish([]byte("<html>"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issuer := authtest.NewIssuer(t)
			keys := newKeyServer(t, handler)
			start := time.Now()
			f := startRemote(t, issuer, keys)
			c, token := f.user()
			for range 10 {
				expect(t, c, token, "GET", 503, 50300)
			}
			expect(t, c, "x", "GET", 401, 40101) // needs no key
			f.awaitLog(t, `"level":"WARN","msg":"no token keys"`)
			keys.set(publish(issuer.JWKS()))
			awaitKeys(t, c, token)
			if n, most := keys.fetches.Load(), 2+int32(time.Since(start)/(5*time.Second)); n > most {
				t.Errorf("%d fetches, want at most %d: one during init and one every five seconds", n, most)
			}
			keys.set(down)
			_, other := f.user()
			expect(t, c, other, "GET", 200, 0) // the keys are kept
		})
	}
}

// awaitKeys waits until the token is accepted.
func awaitKeys(t *testing.T, c *client, token string) {
	t.Helper()
	tools.Await(t, func() error {
		a, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)})
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 {
			return nil
		}
		if a.status != 503 || a.header.Get("Retry-After") != "5" {
			t.Fatalf("the keys are available, but\n%s", a)
		}
		time.Sleep(200 * time.Millisecond)
		return errors.New("the available keys are not fetched")
	})
}
