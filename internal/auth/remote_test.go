package auth_test

import (
	"bufio"
	"cmp"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A network maps addresses to responses, each a whole HTTP/1.1 response or only a body.
type network struct {
	mu       sync.Mutex
	pages    map[string]string
	delays   map[string]time.Duration
	requests []string
	log      strings.Builder // of the verifiers that use the network
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	n.mu.Lock()
	n.requests = append(n.requests, url)
	page, found := n.pages[url]
	delay := n.delays[url]
	n.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	switch {
	case !found:
		page = notFound
	case page != "" && !strings.HasPrefix(page, "HTTP/"):
		page = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + page
	}
	return http.ReadResponse(bufio.NewReader(strings.NewReader(page)), r)
}

const notFound = "HTTP/1.1 404 Not Found\r\n\r\n"

// verifier returns a verifier that uses the network.
func (n *network) verifier(t *testing.T, c auth.Config) *auth.Verifier {
	t.Helper()
	c.Issuer, c.Audiences = cmp.Or(c.Issuer, authtest.IssuerURL), []string{authtest.Audience}
	v, err := auth.New(c, []string{"plants/read", "plants/write"}, slog.New(slog.NewTextHandler(&n.log, nil)))
	must(err)
	v.SetNetwork(n)
	return v
}

const (
	keysURL = "https://keys.test/k?v=1"
	openID  = authtest.IssuerURL + "/.well-known/openid-configuration"
)

func metadata(issuer, jwksURI string) string {
	return toJSON(map[string]string{"issuer": issuer, "jwks_uri": jwksURI})
}

// A remoteIssuer publishes its key, under any kids, at keysURL, which its metadata contains.
type remoteIssuer struct {
	network
	key   ed25519.PrivateKey
	v     *auth.Verifier
	clock auth.Clock // of v
}

// newRemoteIssuer returns an issuer. If there are kids, its key is already loaded.
func newRemoteIssuer(t *testing.T, kids ...string) *remoteIssuer {
	t.Helper()
	i := &remoteIssuer{key: newEdKey()}
	i.v = i.verifier(t, auth.Config{})
	i.v.SetClock(&i.clock)
	i.publish(0, kids...)
	if kids != nil {
		must(i.v.Load(t.Context()))
		i.fetches()
		time.Sleep(auth.RetryAfter)
	}
	return i
}

// publish makes the issuer publish the key under these kids, and respond after this delay
// for each document. Without kids, the issuer responds with status 404.
func (i *remoteIssuer) publish(delay time.Duration, kids ...string) {
	pages := map[string]string{}
	if len(kids) > 0 {
		pages[openID], pages[keysURL] = metadata(authtest.IssuerURL, keysURL), string(i.keySet(kids...))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pages, i.delays = pages, map[string]time.Duration{openID: delay, keysURL: delay}
}

func (i *remoteIssuer) keySet(kids ...string) []byte {
	var keys []jwk
	for _, kid := range kids {
		keys = append(keys, newJWK(i.key.Public(), kid))
	}
	return keySet(keys...)
}

// fetches returns the number of fetches since the last call. Each begins with the metadata.
func (i *remoteIssuer) fetches() (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, url := range i.requests {
		if url == openID {
			n++
		}
	}
	i.requests = nil
	return n
}

// token returns the same token each time.
func (i *remoteIssuer) token(kid string) string {
	return compact(fmt.Sprintf(`{"alg":"EdDSA","kid":%q}`, kid), lastingClaims, i.key, unhashed)
}

// check is like the function check, for a token with this kid.
func (i *remoteIssuer) check(t *testing.T, kid, want string) {
	t.Helper()
	check(t, i.v, i.token(kid), want)
}

// checkAtOnce is like the function check, for a token with this kid, which must not wait.
func (i *remoteIssuer) checkAtOnce(t *testing.T, kid, want string) {
	t.Helper()
	start := time.Now()
	check(t, i.v, i.token(kid), want)
	if d := time.Since(start); d != 0 {
		t.Errorf("took %v", d)
	}
}

const ms = time.Millisecond
