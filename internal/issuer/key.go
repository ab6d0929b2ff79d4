package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KeyFile is the name of the file with the private key: one PEM block of PKCS
// #8, as openssl genpkey writes it.
const KeyFile = "token-key.pem"

// loadOrCreateKey returns the key in dir. Processes that create it at the same moment
// may end up with different keys until they are restarted.
func loadOrCreateKey(dir string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, KeyFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKey(path)
	}
	if err != nil {
		return nil, err
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

// createKey writes a new key to path. It renames a complete file, since a full disk
// would leave a part of the key.
func createKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(path+".new", block, 0o600); err != nil {
		return nil, err
	}
	return key, os.Rename(path+".new", path)
}
