package e2e

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/dynamolocal"
)

// A keyServer is where an issuer publishes its keys, with the faults that such
// places have.
type keyServer struct {
	*httptest.Server
	answer  atomic.Pointer[http.HandlerFunc]
	fetches atomic.Int32
}

// newKeyServer returns a keyServer that answers with answer.
func newKeyServer(t *testing.T, answer http.HandlerFunc) *keyServer {
	s := new(keyServer)
	s.set(answer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fetches.Add(1)
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) set(answer http.HandlerFunc) { s.answer.Store(&answer) }

// publish answers with a key set.
func publish(jwks []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(jwks) }
}

// hang gives no answer until the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// down answers with a fault of the server.
func down(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

// startRemote starts a function that fetches the keys of the issuer.
func startRemote(t *testing.T, issuer *authtest.Issuer, keys *keyServer) *function {
	t.Helper()
	o := functionOptions(t, dynamolocal.Endpoint(t), "TOKEN_JWKS_URL="+keys.URL)
	o.Freeze, o.Concurrency = true, 1 // all requests meet the same keys
	return startFunction(t, issuer, o)
}

// While the keys can't be had, at init or later, nobody is let in, and
// everybody is told when to come back. Then they are let in.
func TestLambdaKeysUnavailable(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"down": down, "hanging": hang, "nonsense": publish([]byte("<html>"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issuer := authtest.NewIssuer(t)
			keys := newKeyServer(t, answer)
			f := startRemote(t, issuer, keys)
			c := newClient(f.target())
			token := f.token(t, TokenRequest{Subject: newSubject()})
			for range 10 {
				expect(t, c, token, "GET", http.StatusServiceUnavailable, 50300)
			}
			if n := keys.fetches.Load(); n > 2 {
				t.Errorf("%d fetches in the first seconds, want one, in init", n)
			}
			expect(t, c, "x", "GET", http.StatusUnauthorized, 40101) // needs no key
			f.awaitLog(t, `"level":"WARN","msg":"no token keys"`)
			keys.set(publish(issuer.JWKS()))
			awaitKeys(t, c, token)
			if n := keys.fetches.Load(); n > 4 {
				t.Errorf("%d fetches, with one in five seconds allowed", n)
			}
			keys.set(down)
			expect(t, c, f.token(t, TokenRequest{Subject: newSubject()}), "GET", http.StatusOK, 0) // the keys are kept
		})
	}
}

// awaitKeys asks until the token is accepted. Until then the answer must be to
// come back in five seconds, after which it has to be.
func awaitKeys(t *testing.T, c *client, token string) {
	t.Helper()
	for deadline := time.Now().Add(8 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		a, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)})
		if err != nil {
			t.Fatal(err)
		}
		if a.status == http.StatusOK {
			return
		}
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "5" || time.Now().After(deadline) {
			t.Fatalf("the keys are there, but\n%s", a)
		}
	}
}

// A slow issuer makes the init longer, but not without bounds, and no request.
func TestLambdaSlowKeys(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	keys := newKeyServer(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(300 * time.Millisecond)
		w.Write(issuer.JWKS())
	})
	f := startRemote(t, issuer, keys)
	c := newClient(f.target())
	for range 3 {
		expect(t, c, f.token(t, TokenRequest{Subject: newSubject()}), "GET", http.StatusOK, 0)
	}
	if n := keys.fetches.Load(); n != 1 {
		t.Errorf("%d fetches, want one, in init", n)
	}
}

// New keys are found when a token comes that is signed with one. What the issuer
// no longer publishes is no key any more.
func TestLambdaRotatedKeys(t *testing.T) {
	t.Parallel()
	issuer, next := authtest.NewIssuer(t), authtest.NewIssuer(t)
	keys := newKeyServer(t, publish(issuer.JWKS()))
	f := startRemote(t, issuer, keys)
	c := newClient(f.target())
	before := f.token(t, TokenRequest{Subject: newSubject()})
	expect(t, c, before, "GET", http.StatusOK, 0)

	keys.set(publish(keySet(t, "next", next)))
	expect(t, c, f.keep(signedAs(t, "next", next)), "GET", http.StatusOK, 0)
	expect(t, c, f.keep(signedAs(t, "next", issuer)), "GET", http.StatusUnauthorized, 40101)
	expect(t, c, before, "GET", http.StatusUnauthorized, 40101)
	if n := keys.fetches.Load(); n != 2 {
		t.Errorf("%d fetches, want one in init and one for the new key", n)
	}
}

// Tokens with made-up key ids don't make the function ask the issuer again and
// again, nor wait for it, nor lose the keys that it has.
func TestLambdaUnknownKeys(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	keys := newKeyServer(t, publish(issuer.JWKS()))
	f := startRemote(t, issuer, keys)
	c := newClient(f.target())
	token := f.token(t, TokenRequest{Subject: newSubject()})
	expect(t, c, token, "GET", http.StatusOK, 0)
	keys.set(down)
	for i := range 500 {
		if i == 250 {
			keys.set(hang) // which none of these is to feel
		}
		expect(t, c, signedAs(t, newSubject(), issuer), "GET", http.StatusUnauthorized, 40101)
		if n := keys.fetches.Load(); n > 4 {
			t.Fatalf("%d fetches for %d unknown keys", n, i+1)
		}
	}
	expect(t, c, token, "GET", http.StatusOK, 0)
}

// keySet returns a key set that holds the issuer's ES256 key under the given id.
func keySet(t *testing.T, kid string, issuer *authtest.Issuer) []byte {
	t.Helper()
	b, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: issuer.ECKey.Public(), KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// signedAs returns a good token but for its key id, which is kid.
func signedAs(t *testing.T, kid string, issuer *authtest.Issuer) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: issuer.ECKey, KeyID: kid}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := json.Marshal(authtest.Claims(newSubject()))
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
