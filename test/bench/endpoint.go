package main

import (
	"crypto/tls"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/handlers"
)

// The keys of the token issuers, RSA keys of 2048 bits among them. As on AWS, DynamoDB and the
// issuer are separate servers, with TLS.
var keys = authtest.NewIssuer(nil)

// keysPath is the path of the key set on an issuer's server.
const keysPath = "/keys"

// token returns a token that names the given issuer, signed with RS256 like Amazon
// Cognito's.
func token(issuer string) string {
	claims := authtest.Claims("alice", handlers.Scopes()...)
	claims["iss"] = issuer
	return keys.SignRS256(claims)
}

// serveIssuer sends the metadata and the key set of a token issuer.
func serveIssuer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == keysPath {
		w.Write(keys.JWKS())
		return
	}
	base := "https://" + r.Host
	fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, base, base+keysPath)
}

// newServer starts a server, as if a round trip to it took the given time.
func newServer(roundTrip time.Duration, handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.Listener = distantListener{s.Listener, roundTrip}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // killed functions leave broken connections
	// So that the server writes once in each round trip.
	s.TLS = &tls.Config{SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true}
	s.StartTLS() // without HTTP/2, like DynamoDB
	return s
}

type distantListener struct {
	net.Listener
	roundTrip time.Duration
}

func (l distantListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &distantConn{Conn: conn, roundTrip: l.roundTrip}, err
}

// A distantConn writes a round trip later. The first time it is two, since to connect takes one.
type distantConn struct {
	net.Conn
	roundTrip time.Duration
	connected bool
}

func (c *distantConn) Write(b []byte) (int, error) {
	time.Sleep(c.roundTrip)
	if !c.connected {
		time.Sleep(c.roundTrip)
	}
	c.connected = true
	return c.Conn.Write(b)
}

// serveDynamoDB sends a successful response with the checksum that the SDK
// verifies.
func serveDynamoDB(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	const item = `{"id":{"N":"1"},"name":{"S":"Basil"},"tag":{"S":"herb"},` +
		`"owner":{"S":"alice"},"created_at":{"S":"2026-01-02T03:04:05.678Z"}}`
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body := []byte(`{}`)
	switch operation {
	case "Query":
		body = []byte(`{"Count":1,"Items":[` + item + `],"ScannedCount":1}`)
	case "GetItem":
		body = []byte(`{"Item":` + item + `}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(body)))
	w.Write(body)
}
