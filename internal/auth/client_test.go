package auth_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// newVerifier returns a verifier whose connections are real.
func newVerifier(issuer, keysURL string) *auth.Verifier {
	c := auth.Config{Issuer: issuer, Audiences: []string{authtest.Audience}, KeysURL: keysURL}
	v, err := auth.New(c, nil, slog.New(slog.DiscardHandler))
	must(err)
	return v
}

// The client waits for an issuer that takes 2.8 s to respond. TestSlowIssuer has no connections.
func TestSlowResponse(t *testing.T) {
	jwks := string(authtest.NewIssuer(t).JWKS())
	synctest.Test(t, func(t *testing.T) {
		v := newVerifier(authtest.IssuerURL, "http://localhost/keys")
		v.Transport().DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				_, _ = http.ReadRequest(bufio.NewReader(theirs))
				time.Sleep(2800 * time.Millisecond)
				fmt.Fprintf(theirs, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(jwks), jwks)
			}()
			return ours, nil
		}
		checkLoad(t, v, "")
		v.Transport().CloseIdleConnections()
		time.Sleep(time.Minute) // until the connections end, also if the client didn't wait
	})
}

// The error of a handshake that hangs names that step.
func TestHangingHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifier(authtest.IssuerURL, keysURL)
		v.Transport().Proxy = nil // that of the shell would get another request
		v.Transport().DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			return ours, nil
		}
		checkLoad(t, v, "TLS handshake timeout")
	})
}

// Both documents need only one connection, since a cold start waits for it.
func TestConnection(t *testing.T) {
	var url string
	var addresses []string
	tokens := authtest.NewIssuer(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses = append(addresses, r.RemoteAddr)
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			io.WriteString(w, metadata(url, url+"/keys"))
		case "/keys":
			w.Write(tokens.JWKS())
		}
	}))
	defer server.Close()
	url = server.URL
	checkLoad(t, newVerifier(url, ""), "")
	if len(addresses) != 2 || addresses[0] != addresses[1] {
		t.Errorf("got requests from %q, want two from one address", addresses)
	}
}

// The client doesn't offer HTTP/2, which would keep using a connection that has died without a
// sign. The server ends the handshake when it has seen the offer.
func TestNoHTTP2(t *testing.T) {
	offers := make(chan []string, 1)
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		offers <- hello.SupportedProtos
		return nil, errors.New("seen")
	}}
	server.StartTLS()
	defer server.Close()
	checkLoad(t, newVerifier(authtest.IssuerURL, server.URL), "remote error: tls")
	if offer := <-offers; slices.Contains(offer, "h2") {
		t.Errorf("the client offers %q, want no HTTP/2", offer)
	}
}

// An error says that the proxy refused the connection, not the issuer, and keeps its password.
func TestProxyRefuses(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	must(err)
	address.User = url.UserPassword("user", "secret")
	v := newVerifier(authtest.IssuerURL, keysURL)
	v.Transport().Proxy = http.ProxyURL(address)
	checkLoad(t, v, "GET https://keys.test/k: the proxy responded: status 403 Forbidden")
}
