//go:debug x509usefallbackroots=1
package awsroots

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// In this test the embedded roots include amazon, and system is the only root of
// the system. The host 127.0.0.1 is one of AWS.
var amazon, system, nobody = newCert(nil, tomorrow), newCert(nil, tomorrow), newCert(nil, tomorrow)

var tomorrow, yesterday = time.Now().AddDate(0, 0, 1), time.Now().AddDate(0, 0, -1)

func TestMain(m *testing.M) {
	bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: amazon.Certificate[0]})...)
	suffixes = append(suffixes, "127.0.0.1")
	pool := x509.NewCertPool()
	pool.AddCert(system.Leaf)
	x509.SetFallbackRoots(pool) // in place of the system's, with x509usefallbackroots=1
	os.Exit(m.Run())
}

// newCert returns a certificate of this machine that root has signed, or a root
// if root is nil.
func newCert(root *tls.Certificate, notAfter time.Time) *tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: rand.Text()}, NotAfter: notAfter,
		IsCA: root == nil, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	parent, signer := template, crypto.PrivateKey(key)
	if root != nil {
		parent, signer = root.Leaf, root.PrivateKey
	}
	der := must(x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer))
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: must(x509.ParseCertificate(der))}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// startServer starts a TLS server and returns its port.
func startServer(t *testing.T, certificate *tls.Certificate) (port string) {
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port
}

// newDial returns a function that connects to addr, and the log.
func newDial(t *testing.T) (dial func(addr string) error, log *bytes.Buffer) {
	log = new(bytes.Buffer)
	dialTLS := DialTLS(slog.New(slog.NewTextHandler(log, nil)))
	return func(addr string) error {
		conn, err := dialTLS(t.Context(), "tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err
	}, log
}

// Concurrent connections have the same result, and at most one warning.
func TestDialTLS(t *testing.T) {
	const aws, other = "127.0.0.1:", "localhost:"
	for name, tt := range map[string]struct {
		host        string
		certificate *tls.Certificate
		want        string // in the error, if any
		warned      bool
	}{
		"AWS":               {aws, newCert(amazon, tomorrow), "", false},
		"AWS, new root":     {aws, newCert(system, tomorrow), "", true},
		"AWS, unknown root": {aws, newCert(nobody, tomorrow), "unknown authority", true},
		"AWS, expired":      {aws, newCert(system, yesterday), "expired", false},
		"other":             {other, newCert(system, tomorrow), "", false},
		"other, AWS's root": {other, newCert(amazon, tomorrow), "unknown authority", false},
	} {
		t.Run(name, func(t *testing.T) {
			addr := tt.host + startServer(t, tt.certificate)
			dial, log := newDial(t)
			var group sync.WaitGroup
			for range 10 {
				group.Go(func() {
					err := dial(addr)
					if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
						t.Errorf("error %v, want %q", err, tt.want)
					}
				})
			}
			group.Wait()
			if warnings := strings.Count(log.String(), "level=WARN"); warnings > 1 || (warnings == 1) != tt.warned {
				t.Errorf("log:\n%swant a warning: %t", log, tt.warned)
			}
		})
	}
}

// After the switch to the system's roots, these are the only ones.
func TestSystemAlone(t *testing.T) {
	dial, _ := newDial(t)
	old, next := startServer(t, newCert(amazon, tomorrow)), startServer(t, newCert(system, tomorrow))
	for i, port := range []string{old, next, old} {
		if err := dial("127.0.0.1:" + port); (err == nil) != (i < 2) {
			t.Errorf("connection %d: %v", i+1, err)
		}
	}
}

func TestIsAWS(t *testing.T) {
	for addr, want := range map[string]bool{
		"123456789012.ddb.eu-central-1.amazonaws.com:443":      true,
		"dynamodb.eu-central-1.api.aws:443":                    true,
		"dynamodb.us-gov-west-1.amazonaws.com:8443":            true,
		"dynamodb.cn-north-1.amazonaws.com.cn:443":             false,
		"dynamodb.eu-central-1.amazonaws.com.evil.example:443": false,
		"evilamazonaws.com:443":                                false,
		"[2001:db8::1]:443":                                    false,
	} {
		if got := isAWS(addr); got != want {
			t.Errorf("%s: %t, want %t", addr, got, want)
		}
	}
}

// embedded is the bundle without the roots of other tests.
var embedded = bundle

// fingerprints are the SHA-256 fingerprints of the roots, as published at
// https://www.amazontrust.com/repository/.
var fingerprints = map[string]string{
	"Amazon Root CA 1": "8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e",
	"Amazon Root CA 2": "1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4",
	"Amazon Root CA 3": "18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4",
	"Amazon Root CA 4": "e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092",
	"Starfield Services Root Certificate Authority - G2": "568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5",
}

func TestRoots(t *testing.T) {
	const advice = "update roots.pem, and the fingerprints in this test, to the roots at https://www.amazontrust.com/repository/"
	found := map[string]string{}
	for block, rest := pem.Decode(embedded); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(c.Raw)
		found[c.Subject.CommonName] = hex.EncodeToString(sum[:])
		if now := time.Now(); now.Before(c.NotBefore) || now.AddDate(1, 0, 0).After(c.NotAfter) {
			t.Errorf("%s is valid from %v to %v, which ends within a year: %s", c.Subject.CommonName, c.NotBefore, c.NotAfter, advice)
		}
	}
	if !maps.Equal(found, fingerprints) {
		t.Errorf("the roots are %v, want %v", found, fingerprints)
	}
}
