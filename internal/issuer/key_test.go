package issuer

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
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

// open opens an issuer in a new directory and returns the path of its key.
func open(t *testing.T) (*Issuer, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "data")
	i, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return i, filepath.Join(dir, KeyFile)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestKeyIsKept(t *testing.T) {
	i, path := open(t)
	before := read(t, path)
	if !bytes.HasPrefix(before, []byte("-----BEGIN PRIVATE KEY-----\n")) {
		t.Error("the key file is not as openssl genpkey writes it")
	}
	again, err := Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if string(again.JWKS()) != string(i.JWKS()) || !bytes.Equal(read(t, path), before) {
		t.Error("Open changed the key")
	}
	other, _ := open(t)
	if string(other.JWKS()) == string(i.JWKS()) {
		t.Error("two directories have the same key")
	}
}

func TestKeyIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such file modes") // CI runs on Linux
	}
	_, path := open(t)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	checkOnlyKey(t, filepath.Dir(path))
}

// checkOnlyKey checks that no temporary files are left in dir.
func checkOnlyKey(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != KeyFile {
		t.Errorf("got %v, want only the key", entries)
	}
}

func TestInvalidKeyFile(t *testing.T) {
	_, path := open(t)
	whole := read(t, path)
	block := func(kind string, key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty":          {},
		"truncated":      whole[:len(whole)/2],
		"other curve":    block("PRIVATE KEY", p384),
		"other type":     block("PRIVATE KEY", ed),
		"other PEM type": block("CERTIFICATE", p256),
		"not DER":        pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			i, err := Open(filepath.Dir(path))
			if err == nil || i != nil {
				t.Fatalf("got %v, %v; want an error", i, err)
			}
			if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v; want one line that names %s", err, path)
			}
			if !bytes.Equal(read(t, path), content) {
				t.Error("the file was changed")
			}
			checkOnlyKey(t, filepath.Dir(path))
		})
	}
}

func TestUnusableDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, KeyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		file:                         "token key",
		filepath.Join(file, "below"): "token key",
		"a\x00b":                     "token key",
		dir:                          "not a regular file",
	} {
		if i, err := Open(name); err == nil || i != nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want one line with %q", name, i, err, want)
		}
	}
}

// Open holds no lock, so goroutines race as processes do.
func TestConcurrentOpen(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "data")
		results := make(chan string)
		for range 8 {
			go func() {
				i, err := Open(dir)
				if err != nil {
					results <- err.Error()
					return
				}
				results <- string(i.JWKS())
			}()
		}
		first := <-results
		for range 7 {
			if next := <-results; next != first {
				t.Errorf("got %s and %s", first, next)
			}
		}
		if !strings.HasPrefix(first, "{") {
			t.Error(first)
		}
		checkOnlyKey(t, dir)
	}
}
