package awsroots

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"maps"
	"testing"
	"time"
)

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
