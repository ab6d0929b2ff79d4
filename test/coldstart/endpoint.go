package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net"
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
	root             []byte // the root of the servers' certificates, PEM
	token            string // an access token of the issuer
}

// The issuer's tokens and the functions' settings must agree on these.
const (
	issuerName = "https://issuer.example"
	audience   = "plants"
)

// newEndpoint starts the servers, which use TLS.
func newEndpoint() *endpoint {
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	keys := must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: "key", Algorithm: string(jose.RS256), Use: "sig"},
	}}))
	e := &endpoint{
		dynamoDB: httptest.NewUnstartedServer(http.HandlerFunc(serveDynamoDB)),
		issuer:   httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(keys) })),
		token:    newToken(key),
	}
	certificate, root := newCertificate()
	e.root = root
	for _, s := range []*httptest.Server{e.dynamoDB, e.issuer} {
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // killed functions leave broken connections
		s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
		s.StartTLS() // without HTTP/2, like DynamoDB
	}
	return e
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

// newCertificate returns a certificate for 127.0.0.1 and its root. The chain is
// like those of AWS: with an intermediate, and RSA keys of 2048 bits.
func newCertificate() (leaf tls.Certificate, root []byte) {
	var parent *x509.Certificate
	for _, name := range []string{"root", "intermediate", "leaf"} {
		template := &x509.Certificate{
			Subject:               pkix.Name{CommonName: name},
			NotAfter:              time.Now().Add(24 * time.Hour),
			BasicConstraintsValid: true,
			IsCA:                  name != "leaf",
			IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		key := must(rsa.GenerateKey(rand.Reader, 2048))
		if parent == nil { // self-signed
			parent, leaf.PrivateKey = template, key
		}
		der := must(x509.CreateCertificate(rand.Reader, template, parent, key.Public(), leaf.PrivateKey))
		parent, leaf.PrivateKey = must(x509.ParseCertificate(der)), key
		leaf.Certificate = append([][]byte{der}, leaf.Certificate...)
	}
	root = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Certificate[2]})
	leaf.Certificate = leaf.Certificate[:2]
	return leaf, root
}

// must returns v. It is for calls that fail only if this program has a bug.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
