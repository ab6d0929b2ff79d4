package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"maps"
	"os"
	"strings"
	"testing"
	"time"
)

// rootsFile has the root certificates of Amazon Trust Services, as PEM text from
// Debian's package ca-certificates (20230311), which has it from Mozilla. AWS
// services have certificates of these roots, and template.yaml makes the function
// trust no others, since parsing all roots of the system takes longer than to
// connect. To reach AWS through a proxy with its own certificates, add its root
// to the file and to this test.
const rootsFile = "amazon-roots.pem"

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
	found := map[string]string{}
	for _, c := range certificates(t) {
		sum := sha256.Sum256(c.Raw)
		found[c.Subject.CommonName] = hex.EncodeToString(sum[:])
		if now := time.Now(); now.Before(c.NotBefore) || now.AddDate(1, 0, 0).After(c.NotAfter) {
			t.Errorf("%s is valid from %v to %v, which ends within a year: update %s and the fingerprints in this test "+
				"to the roots at https://www.amazontrust.com/repository/", c.Subject.CommonName, c.NotBefore, c.NotAfter, rootsFile)
		}
	}
	if !maps.Equal(found, fingerprints) {
		t.Errorf("%s has %v, want %v", rootsFile, found, fingerprints)
	}
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

// The build puts the file where the template says. Without it the function would
// trust nobody.
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
			t.Errorf("%s lacks %q", name, want)
		}
	}
}
