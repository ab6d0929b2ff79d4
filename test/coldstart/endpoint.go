package main

import (
	"bytes"
	"crypto"
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
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// An endpoint is all that a function talks to, on this machine: DynamoDB's API,
// with one answer for each action, and the keys of the token issuer. Each is a
// server of its own, since on AWS it takes two connections to reach them.
type endpoint struct {
	dynamoDB, issuer string // their addresses
	root             []byte // the certificate that theirs lead to, as PEM
	token            string // of the issuer

	servers []*http.Server
}

// What the issuer's tokens and the functions' settings agree in.
const (
	issuerName = "https://issuer.example"
	audience   = "plants"
)

// newEndpoint starts the servers, which speak TLS if secure is set.
func newEndpoint(secure bool) (*endpoint, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	e := new(endpoint)
	if e.token, err = newToken(key); err != nil {
		return nil, err
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: "key", Algorithm: string(jose.RS256), Use: "sig"},
	}})
	if err != nil {
		return nil, err
	}
	var certificate *tls.Certificate
	if secure {
		if certificate, e.root, err = newCertificate(); err != nil {
			return nil, err
		}
	}
	if e.dynamoDB, err = e.serve(http.HandlerFunc(serveDynamoDB), certificate); err != nil {
		return nil, err
	}
	e.issuer, err = e.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(keys) }), certificate)
	return e, err
}

// serve starts a server and returns its address. Without a certificate it
// speaks plain HTTP.
func (e *endpoint) serve(h http.Handler, certificate *tls.Certificate) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	// A function that is killed leaves a connection that the server would tell of.
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	e.servers = append(e.servers, s)
	if certificate == nil {
		go s.Serve(l)
		return "http://" + l.Addr().String(), nil
	}
	// DynamoDB speaks no HTTP/2.
	s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"http/1.1"}}
	go s.ServeTLS(l, "", "")
	return "https://" + l.Addr().String(), nil
}

func (e *endpoint) close() {
	for _, s := range e.servers {
		s.Close()
	}
}

// serveDynamoDB answers as if everything went well, with the checksum that the
// SDK verifies.
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
	h.Set("X-Amzn-Requestid", "MINIMUMREQUESTID00000000000000000000000000000000000A")
	w.Write(body)
}

// newToken returns a token like those of Amazon Cognito: RS256, with the
// client's id for an audience.
func newToken(key *rsa.PrivateKey) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "key"}}, nil)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": issuerName, "sub": "alice", "client_id": audience, "token_use": "access",
		"iat": time.Now().Unix(), "exp": time.Now().Add(24 * time.Hour).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// newCertificate returns a certificate for this machine as AWS has its own: it
// leads by one more to a root, and all keys are RSA of 2048 bits.
func newCertificate() (leaf *tls.Certificate, root []byte, err error) {
	var parent *x509.Certificate
	var signer crypto.Signer
	var chain [][]byte // the leaf first
	for serial, name := range []string{"root", "intermediate", "leaf"} {
		template := &x509.Certificate{
			SerialNumber:          big.NewInt(int64(serial + 1)),
			Subject:               pkix.Name{CommonName: name},
			NotBefore:             time.Now().Add(-time.Hour),
			NotAfter:              time.Now().Add(24 * time.Hour),
			BasicConstraintsValid: true,
			IsCA:                  name != "leaf",
			KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
			IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, nil, err
		}
		if parent == nil {
			parent, signer = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
		if err != nil {
			return nil, nil, err
		}
		if parent, err = x509.ParseCertificate(der); err != nil {
			return nil, nil, err
		}
		signer, chain = key, append([][]byte{der}, chain...)
	}
	var b bytes.Buffer
	err = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: chain[2]})
	return &tls.Certificate{Certificate: chain[:2], PrivateKey: signer}, b.Bytes(), err
}
