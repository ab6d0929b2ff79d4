package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

const rootsFile = "amazon-roots.pem"

// published are the SHA-256 fingerprints of the roots of Amazon Trust Services.
// https://www.amazontrust.com/repository/
var published = map[string]string{
	"Amazon Root CA 1": "8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e",
	"Amazon Root CA 2": "1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4",
	"Amazon Root CA 3": "18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4",
	"Amazon Root CA 4": "e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092",
	"Starfield Services Root Certificate Authority - G2": "568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5",
}

func certificates(t *testing.T) []*x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(rootsFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func TestPublished(t *testing.T) {
	found := map[string]string{}
	for _, c := range certificates(t) {
		sum := sha256.Sum256(c.Raw)
		found[c.Subject.CommonName] = hex.EncodeToString(sum[:])
		if !c.IsCA || c.CheckSignatureFrom(c) != nil {
			t.Errorf("%s is no root", c.Subject.CommonName)
		}
	}
	if !maps.Equal(found, published) {
		t.Errorf("%s has %v, AWS publishes %v", rootsFile, found, published)
	}
}

// A year before one ends there is time to see what AWS publishes by then.
func TestNotExpired(t *testing.T) {
	for _, c := range certificates(t) {
		if now := time.Now(); now.Before(c.NotBefore) || now.AddDate(1, 0, 0).After(c.NotAfter) {
			t.Errorf("%s is valid from %v to %v", c.Subject.CommonName, c.NotBefore, c.NotAfter)
		}
	}
}

// Set as template.yaml does, the two variables leave nothing else to trust. A
// process reads its roots once, so the test is one of its own.
func TestTrust(t *testing.T) {
	if os.Getenv("SSL_CERT_FILE") == rootsFile {
		pool, err := x509.SystemCertPool()
		if err != nil {
			t.Fatal(err)
		}
		only := x509.NewCertPool()
		for _, c := range certificates(t) {
			only.AddCert(c)
		}
		if !pool.Equal(only) {
			t.Error("other roots are trusted than those of the rootsFile")
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the system's roots are no files here and the function runs on Linux")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTrust$")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+rootsFile, "SSL_CERT_DIR=/nonexistent")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the template names is what the build puts there: without the rootsFile the
// function would trust nobody.
func TestDeployed(t *testing.T) {
	for name, want := range map[string]string{
		"../../template.yaml": "SSL_CERT_FILE: !If [TrustsAWSAlone, /var/task/" + rootsFile + ",",
		"../../Makefile":      "\tcp cmd/lambda/" + rootsFile + ` "$(ARTIFACTS_DIR)/"` + "\n",
	} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
}
