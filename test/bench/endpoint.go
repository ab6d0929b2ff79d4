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
)

// An endpoint is what a function connects to: a DynamoDB with one response for
// each action, and the key set of a token issuer. As on AWS, they are separate
// servers, with TLS and RSA keys of 2048 bits.
type endpoint struct {
	dynamoDB, issuer *httptest.Server
	certificate      []byte // of the servers, PEM
	token            string // signed with RS256, like Amazon Cognito's
}

func newEndpoint() *endpoint {
	issuer := authtest.NewIssuer(nil)
	e := &endpoint{
		dynamoDB: newServer(serveDynamoDB),
		issuer:   newServer(func(w http.ResponseWriter, _ *http.Request) { w.Write(issuer.JWKS()) }),
		token:    issuer.SignRS256(authtest.Claims("alice")),
	}
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
	body := []byte(`{}`)
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
		body = []byte(`{"Count":1,"Items":[{"id":{"N":"1"},"name":{"S":"Basil"},"tag":{"S":"herb"}}],"ScannedCount":1}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(body)))
	w.Write(body)
}
