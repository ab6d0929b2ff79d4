package e2e

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.com/plantstore/internal/issuer"
)

// aged returns the token as it would be had it expired an hour ago, signed
// with the key in the program's data folder.
func aged(tb testing.TB, data, token string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(data, issuer.KeyFile))
	if err != nil {
		tb.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		tb.Fatal(err)
	}
	old, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		tb.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(old.UnsafePayloadWithoutVerification(), &claims); err != nil {
		tb.Fatal(err)
	}
	claims["exp"] = time.Now().Add(-time.Hour).Unix()
	payload, err := json.Marshal(claims)
	if err != nil {
		tb.Fatal(err)
	}
	kid := old.Signatures[0].Header.KeyID
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		tb.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return compact
}
