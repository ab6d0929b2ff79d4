package issuer

import (
	"cmp"
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
// get the same key.
func loadOrCreateKey(dir string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, KeyFile)
	key, err := loadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(dir, path); err != nil {
		return nil, fmt.Errorf("can't create the token key %s: %w: choose a data directory that you can write to and that has free space", path, err)
	}
	return loadKey(path) // another process may have created it first
}

func loadKey(path string) (*ecdsa.PrivateKey, error) {
	// A symbolic link may lead to a file that others can read, and to read a named
	// pipe would take for ever.
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the token key %s is not a regular file: move it away to create a new key, or choose the directory that has the file itself", path)
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

// createKey writes a new key to path, unless there is a file. The file appears there
// complete and on disk, since after a power failure or on a full disk a part of a key
// would be left.
func createKey(dir, path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, KeyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := cmp.Or(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces the key of another process, but some file
	// systems have no links.
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		if err := os.Rename(f.Name(), path); err != nil {
			return err
		}
	}
	// Sync the name of the file too, as far as the operating system can do that.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}
