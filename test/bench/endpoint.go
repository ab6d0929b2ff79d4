package main

import (
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/handlers"
)

// An endpoint is what a function connects to: a DynamoDB with one response for
// each action, and the metadata and the key set of a token issuer. As on AWS, they are
// separate servers, with TLS and RSA keys of 2048 bits.
type endpoint struct {
	dynamoDB, issuer *httptest.Server
	certificate      []byte // of the servers, PEM
	keys             *authtest.Issuer
}

// keysPath is the path of the key set on the issuer's server.
const keysPath = "/keys"

// token returns a token that names the given issuer, signed with RS256 like Amazon
// Cognito's.
func (e *endpoint) token(issuer string) string {
	claims := authtest.Claims("alice", handlers.Scopes()...)
	claims["iss"] = issuer
	return e.keys.SignRS256(claims)
}

func newEndpoint() *endpoint {
	e := &endpoint{dynamoDB: newServer(serveDynamoDB), keys: authtest.NewIssuer(nil)}
	e.issuer = newServer(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == keysPath {
			w.Write(e.keys.JWKS())
			return
		}
		base := "https://" + r.Host // the server's address or that of a proxy
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, base, base+keysPath)
	})
	e.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.issuer.Certificate().Raw})
	return e
}

func newServer(handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // killed functions leave broken connections
	s.StartTLS()                                   // without HTTP/2, like DynamoDB
	return s
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
