//go:debug x509usefallbackroots=1
package awsroots

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// In this test the embedded roots include amazon, and system is the only root of
// the system. The host 127.0.0.1 is one of AWS.
var (
	amazon, system, nobody = newCA("amazon", nil), newCA("system", nil), newCA("nobody", nil)

	tomorrow, yesterday = time.Now().AddDate(0, 0, 1), time.Now().AddDate(0, 0, -1)
)

func TestMain(m *testing.M) {
	bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: amazon.cert.Raw})...)
	suffixes = append(suffixes, "127.0.0.1")
	pool := x509.NewCertPool()
	pool.AddCert(system.cert)
	x509.SetFallbackRoots(pool) // in place of the system's, with x509usefallbackroots=1
	os.Exit(m.Run())
}

// An issuer is a certificate with its key.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newCA returns an authority, a root if parent is nil.
func newCA(name string, parent *issuer) *issuer {
	return newCert(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: tomorrow.AddDate(0, 0, 1),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, parent)
}

func newCert(template *x509.Certificate, parent *issuer) *issuer {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	if parent == nil {
		parent = &issuer{template, key}
	}
	template.SerialNumber, template.NotBefore = big.NewInt(1), yesterday.AddDate(0, 0, -1)
	der := must(x509.CreateCertificate(rand.Reader, template, parent.cert, &key.PublicKey, parent.key))
	return &issuer{must(x509.ParseCertificate(der)), key}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// chain returns the certificates of a server: its own, of an intermediate
// authority of root, and that of the intermediate authority.
func chain(root *issuer, host string, notAfter time.Time) tls.Certificate {
	intermediate := newCA("intermediate", root)
	leaf := &x509.Certificate{NotAfter: notAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		leaf.IPAddresses = []net.IP{ip}
	} else {
		leaf.DNSNames = []string{host}
	}
	server := newCert(leaf, intermediate)
	return tls.Certificate{Certificate: [][]byte{server.cert.Raw, intermediate.cert.Raw}, PrivateKey: server.key}
}

// A server serves HTTPS on 127.0.0.1, and counts its handshakes.
type server struct {
	*httptest.Server
	handshakes atomic.Int32
}

func newServer(t *testing.T, certificate tls.Certificate) *server {
	s := &server{Server: httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "[]")
	}))}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	count := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.handshakes.Add(1)
		return nil, nil // which means this one
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, GetConfigForClient: count}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// get makes a request on a new connection.
func (s *server) get(ctx context.Context, host string, transport *http.Transport) error {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	req := must(http.NewRequestWithContext(ctx, http.MethodGet, "https://"+net.JoinHostPort(host, port), nil))
	req.Close = true
	resp, err := transport.RoundTrip(req)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	return err
}

// newTransport returns a transport that logs to w.
func newTransport(w io.Writer) *http.Transport {
	return &http.Transport{DialTLSContext: DialTLS(slog.New(slog.NewTextHandler(w, nil)))}
}

// Both requests to each server give the same result, with as many handshakes. A
// warning is logged at most once.
func TestDialTLS(t *testing.T) {
	withoutIntermediate := chain(amazon, "127.0.0.1", tomorrow)
	withoutIntermediate.Certificate = withoutIntermediate.Certificate[:1]
	const aws, other = "127.0.0.1", "localhost"
	for name, tt := range map[string]struct {
		host       string
		chain      tls.Certificate
		want       string // in the error, if any
		warned     bool
		handshakes int32
	}{
		"AWS":                         {aws, chain(amazon, aws, tomorrow), "", false, 2},
		"AWS, new root":               {aws, chain(system, aws, tomorrow), "", true, 3},
		"AWS, unknown root":           {aws, chain(nobody, aws, tomorrow), "unknown authority", true, 3},
		"AWS, no intermediate":        {aws, withoutIntermediate, "unknown authority", true, 3},
		"AWS, other name":             {aws, chain(amazon, "127.0.0.2", tomorrow), "127.0.0.2, not 127.0.0.1", false, 2},
		"AWS, new root, other name":   {aws, chain(system, "127.0.0.2", tomorrow), "127.0.0.2, not 127.0.0.1", false, 2},
		"AWS, expired":                {aws, chain(amazon, aws, yesterday), "expired", false, 2},
		"AWS, new root, expired":      {aws, chain(system, aws, yesterday), "expired", false, 2},
		"other":                       {other, chain(system, other, tomorrow), "", false, 2},
		"other, with AWS's root":      {other, chain(amazon, other, tomorrow), "unknown authority", false, 2},
		"other, with another's name":  {other, chain(system, "example.com", tomorrow), "example.com, not localhost", false, 2},
		"other, expired":              {other, chain(system, other, yesterday), "expired", false, 2},
		"other, with an unknown root": {other, chain(nobody, other, tomorrow), "unknown authority", false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tt.chain)
			var log bytes.Buffer
			transport := newTransport(&log)
			for range 2 {
				err := s.get(t.Context(), tt.host, transport)
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			}
			if warnings := strings.Count(log.String(), "level=WARN"); warnings > 1 || (warnings == 1) != tt.warned || strings.Count(log.String(), "\n") != warnings {
				t.Errorf("log:\n%swant a warning: %t", &log, tt.warned)
			}
			if n := s.handshakes.Load(); n != tt.handshakes {
				t.Errorf("%d handshakes, want %d", n, tt.handshakes)
			}
		})
	}
}

// After the switch to the system's roots, these are the only ones.
func TestSystemAlone(t *testing.T) {
	var log bytes.Buffer
	transport := newTransport(&log)
	old, next := newServer(t, chain(amazon, "127.0.0.1", tomorrow)), newServer(t, chain(system, "127.0.0.1", tomorrow))
	for i, s := range []*server{old, next, old} {
		if err := s.get(t.Context(), "127.0.0.1", transport); (err == nil) != (i < 2) {
			t.Errorf("request %d: %v", i+1, err)
		}
	}
}

// Concurrent first connections all succeed, with one warning.
func TestConcurrent(t *testing.T) {
	s := newServer(t, chain(system, "127.0.0.1", tomorrow))
	var log bytes.Buffer
	transport := newTransport(&log)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := s.get(t.Context(), "127.0.0.1", transport); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log:\n%swant one line", &log)
	}
}

// A failure to connect says nothing about roots.
func TestNoConnection(t *testing.T) {
	s := newServer(t, chain(amazon, "127.0.0.1", tomorrow))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	transport := newTransport(&log)
	if err := s.get(canceled, "127.0.0.1", transport); err == nil {
		t.Error("no error after cancellation")
	}
	s.Close()
	if err := s.get(t.Context(), "127.0.0.1", transport); err == nil || log.Len() > 0 {
		t.Errorf("error %v, log:\n%s", err, &log)
	}
}

func TestIsAWS(t *testing.T) {
	for addr, want := range map[string]bool{
		"dynamodb.eu-central-1.amazonaws.com:443":                true,
		"123456789012.ddb.eu-central-1.amazonaws.com:443":        true,
		"dynamodb.eu-central-1.api.aws:443":                      true,
		"dynamodb.us-gov-west-1.amazonaws.com:443":               true,
		"cognito-idp.eu-central-1.amazonaws.com:443":             true,
		"vpce-1-2.dynamodb.eu-central-1.vpce.amazonaws.com:8443": true,
		"dynamodb.cn-north-1.amazonaws.com.cn:443":               false,
		"dynamodb.eusc-de-east-1.amazonaws.eu:443":               false,
		"dynamodb.eu-central-1.amazonaws.com.evil.example:443":   false,
		"evilamazonaws.com:443":                                  false,
		"issuer.example:443":                                     false,
		"[2001:db8::1]:443":                                      false,
		"dynamodb.eu-central-1.amazonaws.com":                    false, // no port
	} {
		if got := isAWS(addr); got != want {
			t.Errorf("%s: %t, want %t", addr, got, want)
		}
	}
}
