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
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// open opens an issuer in a new folder and returns the path of its key.
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

func TestKeyOutlivesRestart(t *testing.T) {
	i, path := open(t)
	before := read(t, path)
	again, err := Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if string(again.JWKS()) != string(i.JWKS()) || !bytes.Equal(read(t, path), before) {
		t.Error("the second start has another key")
	}
	other, _ := open(t)
	if string(other.JWKS()) == string(i.JWKS()) {
		t.Error("two folders have the same key")
	}
}

func TestKeyIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes say nothing on Windows") // and CI runs on Linux
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

// checkOnlyKey wants nothing in dir but the key: no remains of making it.
func checkOnlyKey(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != KeyFile {
		t.Errorf("found %v, want only the key", entries)
	}
}

func TestDamagedKeyFile(t *testing.T) {
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
		"empty":         {},
		"garbage":       []byte("\x00\xff\n"),
		"cut off":       whole[:len(whole)/2],
		"zeros":         make([]byte, len(whole)),
		"another curve": block("PRIVATE KEY", p384),
		"another type":  block("PRIVATE KEY", ed),
		"another PEM":   block("CERTIFICATE", p256),
		"not DER":       pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}),
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
				t.Errorf("want one line that names %s, got %v", path, err)
			}
			if !bytes.Equal(read(t, path), content) {
				t.Error("the file was changed")
			}
			checkOnlyKey(t, filepath.Dir(path))
		})
	}
}

func TestUnusableFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, KeyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{file, filepath.Join(file, "below"), dir, "a\x00b"} {
		if i, err := Open(d); err == nil || i != nil {
			t.Errorf("%q: got %v, %v; want an error", d, i, err)
		} else if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "token key") {
			t.Errorf("%q: want one line that says what could not be made, got %v", d, err)
		}
	}
}

// childDir tells the test binary to be one of several processes.
const childDir = "ISSUER_TEST_DIR"

func TestProcessesAtOnceShareOneKey(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		i, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.Write(append(i.JWKS(), '\n'))
		return
	}
	for range 5 {
		dir := filepath.Join(t.TempDir(), "data")
		var children []*exec.Cmd
		var outputs []*bytes.Buffer
		for range 4 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesAtOnceShareOneKey$", "-test.count=1")
			cmd.Env = append(os.Environ(), childDir+"="+dir)
			out := new(bytes.Buffer)
			cmd.Stdout, cmd.Stderr = out, out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			children, outputs = append(children, cmd), append(outputs, out)
		}
		keys := map[string]bool{}
		for n, cmd := range children {
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, outputs[n])
			}
			line, _, _ := strings.Cut(outputs[n].String(), "\n")
			keys[line] = true
		}
		i, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !keys[string(i.JWKS())] || len(keys) != 1 {
			t.Errorf("the processes have %d keys: %v", len(keys), keys)
		}
		checkOnlyKey(t, dir)
	}
}

// Goroutines meet more often than processes do.
func TestOpenAtOnce(t *testing.T) {
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

// A key that is no file is refused, rather than read for ever.
func TestKeyIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, KeyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}
