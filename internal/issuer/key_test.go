package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// keys opens the issuer of dir and returns its public keys, or the error's text,
// which must be one line.
func keys(t *testing.T, dir string) string {
	t.Helper()
	i, err := Open(dir, nil)
	if err == nil {
		return i.JWKS()
	}
	if i != nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, %v; want one line", i, err)
	}
	return err.Error()
}

// The first start makes a key that only the user can read, and later ones keep it.
func TestNewKey(t *testing.T) {
	dir := t.TempDir()
	if first, again := keys(t, dir), keys(t, dir); first != again || !strings.Contains(first, `"kid"`) {
		t.Errorf("got %s, then %s", first, again)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("got %v, want only the key", entries)
	}
	if info, err := os.Stat(filepath.Join(dir, KeyFile)); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("got %v, %v; want mode 600", info, err)
	}
}

// A file that is not a valid key is left alone.
func TestInvalidKeyFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, KeyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, dir); !strings.Contains(got, KeyFile) {
		t.Errorf("a directory: got %s", got)
	}
	block := func(curve elliptic.Curve) string {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	whole := block(elliptic.P256())
	for name, content := range map[string]string{
		"empty":       "",
		"truncated":   whole[:len(whole)/2],
		"other curve": block(elliptic.P384()),
		"not DER":     string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})),
		"":            whole,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, KeyFile)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := keys(t, dir); strings.Contains(got, path+" is invalid") != (name != "") {
			t.Errorf("%s: got %s", name, got)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != content {
			t.Errorf("%s: the file was changed, or %v", name, err)
		}
	}
}
