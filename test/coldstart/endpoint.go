package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// An endpoint is what a function connects to: a DynamoDB with one response for
// each action, and the key set of a token issuer. They are separate servers, as
// on AWS, where a function opens two connections.
type endpoint struct {
	dynamoDB, issuer *httptest.Server
	certificate      []byte // of the servers, PEM
	token            string // an access token of the issuer
}

// The issuer's tokens and the functions' settings must agree on these.
const (
	issuerName = "https://issuer.example"
	audience   = "plants"
)

// newEndpoint starts the servers. They use TLS with an RSA key of 2048 bits, as
// those of AWS do.
func newEndpoint() *endpoint {
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	keys := must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: "key", Algorithm: string(jose.RS256), Use: "sig"},
	}}))
	e := &endpoint{
		dynamoDB: newServer(serveDynamoDB),
		issuer:   newServer(func(w http.ResponseWriter, _ *http.Request) { w.Write(keys) }),
		token:    newToken(key),
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

func (e *endpoint) close() {
	e.dynamoDB.Close()
	e.issuer.Close()
}

// serveDynamoDB sends a successful response with the checksum that the SDK
// verifies.
func serveDynamoDB(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	body := []byte(`{}`)
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
		body = []byte(`{"Count":2,"Items":[{"id":{"N":"1"},"name":{"S":"Basil"},"tag":{"S":"kitchen"}},` +
			`{"id":{"N":"2"},"name":{"S":"Monstera"}}],"ScannedCount":2}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(body)))
	w.Write(body)
}

// newToken returns an access token like Amazon Cognito's: RS256, with client_id
// instead of aud.
func newToken(key *rsa.PrivateKey) string {
	signingKey := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "key"}}
	return must(jwt.Signed(must(jose.NewSigner(signingKey, nil))).Claims(map[string]any{
		"iss": issuerName, "sub": "alice", "client_id": audience, "token_use": "access",
		"iat": time.Now().Unix(), "exp": time.Now().Add(24 * time.Hour).Unix(),
	}).Serialize())
}

// must returns v. It is for calls that fail only if this program has a bug.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
