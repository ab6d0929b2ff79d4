package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"example.com/plantstore/internal/newfile"
)

// KeyFile is the name of the file with the private key: one PEM block of PKCS
// #8, as openssl genpkey writes it.
const KeyFile = "token-key.pem"

// loadOrCreateKey returns the key in dir. Processes that create it at the same moment
// get the same key.
func loadOrCreateKey(dir string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, KeyFile)
	if err := newfile.Ensure(path, writeKey); err != nil { // on disk before a token is signed
		return nil, fmt.Errorf("can't create the token key %s: %w", path, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("can't read the token key: %w: let this user read it, or choose another data directory", err)
	}
	if block, _ := pem.Decode(data); block != nil {
		parsed, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
		if key, ok := parsed.(*ecdsa.PrivateKey); ok && key.Curve == elliptic.P256() {
			return key, nil
		}
	}
	return nil, fmt.Errorf("the token key %s is invalid: want a P-256 key in a PEM block of PKCS #8; "+
		"restore it, or remove it to create a new one, which invalidates all tokens", path)
}

// writeKey writes a new key to a file.
func writeKey(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}
