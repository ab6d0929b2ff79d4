package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keys opens the issuer of dir and returns its public keys, or the error's text.
func keys(dir string) string {
	i, err := Open(dir, nil)
	if err != nil {
		return err.Error()
	}
	return i.JWKS()
}

// The key outlives a restart, and so do tokens. Another directory has another key.
func TestKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	if first := keys(dir); keys(dir) != first || keys(t.TempDir()) == first {
		t.Errorf("the keys %s don't stay, or are those of another directory", first)
	}
}

// A file that is not a valid key is left alone.
func TestInvalidKeyFile(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	block := func(content []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: content}))
	}
	for name, content := range map[string]string{
		"empty":       "",
		"truncated":   block(der)[:100],
		"other curve": block(der),
		"not DER":     block([]byte("x")),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, KeyFile)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := keys(dir); !strings.Contains(got, path+" is invalid") || strings.Contains(got, "\n") {
			t.Errorf("%s: got %s", name, got)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != content {
			t.Errorf("%s: the file was changed, or %v", name, err)
		}
	}
}

// If the key can't be created or read, the error advises neither to remove it nor to create a
// new one: that would invalidate all tokens.
func TestUnusableDirectory(t *testing.T) {
	missing, occupied := filepath.Join(t.TempDir(), "missing"), t.TempDir()
	if err := os.Mkdir(filepath.Join(occupied, KeyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		missing:  "can't create the token key ",
		occupied: "can't read the token key: ",
	} {
		got := keys(dir)
		if !strings.HasPrefix(got, want) || strings.Contains(got, "remove") || strings.Contains(got, "new") {
			t.Errorf("got %s, want %s… without advice to remove it", got, want)
		}
	}
}
