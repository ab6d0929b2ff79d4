package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/lambdalocal"
)

// The embedded roots and the system's apply to the connections for DynamoDB and
// for the token keys, from the first request on. See package awsroots for more.
func TestRoots(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, for SSL_CERT_FILE")
	}
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	old, oldRoot := startTLS(t, issuer, nil)
	renewed, newRoot := startTLS(t, issuer, []tls.Certificate{selfSigned(t)})
	program, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	onAWS, err := lambdalocal.BuildForAWS(oldRoot)
	if err != nil {
		t.Fatal(err)
	}
	event := fmt.Appendf(nil, `{"version":"2.0","rawPath":"/plants","headers":{"authorization":"Bearer %s"},"requestContext":{"http":{"method":"GET"}}}`, issuer.Token("alice"))
	for name, tt := range map[string]struct {
		binary, server string
		system         []byte // the system's roots
		caBundle       []byte // AWS_CA_BUNDLE, unless empty
		status         int
		warnings       int // about AWS's roots; others only if the status is not 200
	}{
		"AWS":               {onAWS, old, nil, nil, 200, 0},
		"AWS, new root":     {onAWS, renewed, newRoot, nil, 200, 1},
		"AWS, unknown root": {onAWS, renewed, oldRoot, nil, 503, 1},
		"others":            {program, renewed, newRoot, nil, 200, 0},
		"others, AWS alone": {program, old, newRoot, nil, 503, 0},
		"own roots":         {onAWS, old, nil, newRoot, 503, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := append(validEnv(t), "AWS_ENDPOINT_URL_DYNAMODB="+tt.server, "TOKEN_JWKS_URL="+tt.server+"/keys", "TOKEN_JWKS=",
				"LOG_LEVEL=warn", "SSL_CERT_DIR=/nonexistent")
			for name, roots := range map[string][]byte{"SSL_CERT_FILE": tt.system, "AWS_CA_BUNDLE": tt.caBundle} {
				file := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(file, roots, 0o600); err != nil {
					t.Fatal(err)
				}
				if name == "SSL_CERT_FILE" || len(roots) > 0 {
					env = append(env, name+"="+file)
				}
			}
			e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: tt.binary, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			got, err := e.Invoke(t.Context(), event)
			if err != nil || !strings.HasPrefix(string(got), fmt.Sprintf(`{"statusCode":%d,`, tt.status)) {
				t.Errorf("%v\n%s", err, got)
			}
			e.Close() // which completes the log
			lines, about := strings.Count(e.Stdout(), "\n"), strings.Count(e.Stdout(), `"level":"WARN","msg":"AWS uses new root certificates`)
			if about != tt.warnings || tt.status == 200 && lines != about {
				t.Errorf("got the log\n%swant %d warnings about roots", e.Stdout(), tt.warnings)
			}
		})
	}
}

// startTLS starts a server for the issuer's keys at /keys and an empty DynamoDB
// at all other paths. It returns its certificate, too. The default certificate is
// that of package httptest.
func startTLS(t *testing.T, issuer *authtest.Issuer, certificates []tls.Certificate) (url string, certificate []byte) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			w.Write(issuer.JWKS())
			return
		}
		io.WriteString(w, `{"Count":0,"Items":[],"ScannedCount":0}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: certificates}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// selfSigned returns a certificate for 127.0.0.1.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
