//go:debug x509usefallbackroots=1
package awsroots

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Certificates that are roots themselves. In this test the embedded roots include
// amazon, and system is the only root of the system. The host 127.0.0.1 is one of
// AWS.
var amazon, system = newCert(), newCert()

var embedded = bundle

func TestMain(m *testing.M) {
	bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: amazon.Certificate[0]})...)
	suffixes = append(suffixes, "127.0.0.1")
	pool := x509.NewCertPool()
	pool.AddCert(system.Leaf)
	x509.SetFallbackRoots(pool) // in place of the system's, with x509usefallbackroots=1
	os.Exit(m.Run())
}

// newCert returns a certificate of this machine.
func newCert() tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: must(x509.ParseCertificate(der))}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// startServer starts a TLS server and returns its port.
func startServer(t *testing.T, certificate tls.Certificate) (port string) {
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return fmt.Sprint(s.Listener.Addr().(*net.TCPAddr).Port)
}

func TestDialTLS(t *testing.T) {
	old, renewed := startServer(t, amazon), startServer(t, system)
	for addr, want := range map[string]struct {
		err    string // in the error, if any
		warned bool   // and from then on only the system's roots are trusted
	}{
		"127.0.0.1:" + old:     {"", false},
		"127.0.0.1:" + renewed: {"", true},
		"127.0.0.1:1":          {"refused", false},
		"localhost:" + renewed: {"", false},
		"localhost:" + old:     {"unknown authority", false},
	} {
		var lines strings.Builder
		dialTLS := DialTLS(slog.New(slog.NewTextHandler(&lines, nil)))
		dial := func(addr, want string) {
			conn, err := dialTLS(t.Context(), "tcp", addr)
			if err == nil {
				conn.Close()
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", addr, err, want)
			}
		}
		dial(addr, want.err)
		if warned := strings.Contains(lines.String(), "level=WARN"); warned != want.warned {
			t.Errorf("%s: log:\n%swant a warning: %t", addr, &lines, want.warned)
		}
		dial("127.0.0.1:"+old, map[bool]string{true: "unknown authority"}[want.warned])
	}
}

func TestIsAWS(t *testing.T) {
	for addr, want := range map[string]bool{
		"123456789012.ddb.eu-central-1.amazonaws.com:443":      true,
		"dynamodb.eu-central-1.api.aws:443":                    true,
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

// The bundle has the roots, by SHA-256 fingerprint, that are published at
// https://www.amazontrust.com/repository/, and none of them expires within a year.
func TestRoots(t *testing.T) {
	var found []string
	for block, rest := pem.Decode(embedded); block != nil; block, rest = pem.Decode(rest) {
		found = append(found, fmt.Sprintf("%x", sha256.Sum256(block.Bytes)))
		if root := must(x509.ParseCertificate(block.Bytes)); time.Now().AddDate(1, 0, 0).After(root.NotAfter) {
			t.Errorf("%s expires at %v: update roots.pem", root.Subject, root.NotAfter)
		}
	}
	if want := []string{
		"8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e", // Amazon Root CA 1
		"1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4", // Amazon Root CA 2
		"18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4", // Amazon Root CA 3
		"e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092", // Amazon Root CA 4
		"568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5", // Starfield Services Root Certificate Authority - G2
	}; !slices.Equal(found, want) {
		t.Errorf("the roots are %q, want %q", found, want)
	}
}
