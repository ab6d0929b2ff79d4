package e2e

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/program"
)

// refuses checks that the program does not start, and says why in one line that
// has all the words.
func refuses(t *testing.T, env []string, dir string, args []string, words ...string) {
	t.Helper()
	p := launch(t, env, dir, args...)
	code := p.Wait(t, 20*time.Second)
	line := p.Stderr.String()
	if code != 1 || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("exit code %d and not one line:\n%s", code, line)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("the line does not name %s: %s", word, line)
		}
	}
	if out := p.Stdout.String(); out != "" {
		t.Errorf("the log has\n%s", out)
	}
}

// A setting that makes no sense is named.
func TestNonsenseSettings(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // the subtests run after this function
	for name, test := range map[string]struct {
		env   string
		args  string
		words string
	}{
		"log level":                {env: "LOG_LEVEL=loud", words: "LOG_LEVEL loud"},
		"scopes":                   {env: "REQUIRE_SCOPES=maybe", words: "REQUIRE_SCOPES maybe"},
		"issuer without audience":  {env: "TOKEN_ISSUER=https://issuer.example", words: "TOKEN_AUDIENCE"},
		"issuer without an origin": {env: "TOKEN_ISSUER=nonsense TOKEN_AUDIENCE=plants", words: "TOKEN_ISSUER"},
		"audience without issuer":  {env: "TOKEN_AUDIENCE=plants", words: "TOKEN_AUDIENCE TOKEN_ISSUER"},
		"keys without issuer":      {env: "TOKEN_JWKS={}", words: "TOKEN_JWKS TOKEN_ISSUER"},
		"no keys":                  {env: "TOKEN_ISSUER=x TOKEN_AUDIENCE=plants TOKEN_JWKS={", words: "TOKEN_JWKS"},
		"keys without encryption":  {env: "TOKEN_ISSUER=x TOKEN_AUDIENCE=plants TOKEN_JWKS_URL=http://issuer.example/keys", words: "TOKEN_JWKS_URL https"},
		"endpoint":                 {env: "AWS_ENDPOINT_URL_DYNAMODB=nonsense", words: "AWS_ENDPOINT_URL_DYNAMODB"},
		"table":                    {env: "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1 TABLE_NAME=no!name", words: "TABLE_NAME no!name"},
		"nobody at the endpoint":   {env: "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", words: "http://127.0.0.1:1"},
		"unknown flag":             {args: "-port 8080", words: "-port"},
		"argument":                 {args: "serve", words: "serve"},
		"store":                    {args: "-store sqlite", words: "-store sqlite"},
		"no data folder":           {args: "-data=", words: "-data"},
		"address":                  {args: "-addr nowhere", words: "-addr nowhere"},
		"address of someone else":  {args: "-addr 192.0.2.1:0", words: "-addr 192.0.2.1"},
		"port":                     {args: "-addr 127.0.0.1:http:", words: "-addr"},
		"port in use":              {args: "-addr " + taken.Addr().String(), words: "-addr " + taken.Addr().String()},
		"reachable by others":      {args: "-addr 0.0.0.0:0", words: "-addr 0.0.0.0:0 -expose-issuer"},
		"reachable by all":         {args: "-addr :0", words: "-addr -expose-issuer"},
		"reachable over IPv6":      {args: "-addr [::]:0", words: "-addr -expose-issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			aws := []string{"AWS_REGION=local", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x"}
			env := program.Environ(append(aws, strings.Fields(test.env)...)...)
			refuses(t, env, filepath.Join(t.TempDir(), "data"), strings.Fields(test.args), strings.Fields(test.words)...)
		})
	}
}

// Empty means unset.
func TestEmptySettings(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ("AWS_ENDPOINT_URL_DYNAMODB=", "TABLE_NAME=", "TOKEN_ISSUER=", "TOKEN_AUDIENCE=", "TOKEN_JWKS_URL=", "TOKEN_JWKS=",
		"REQUIRE_SCOPES=", "LOG_LEVEL="), t.TempDir())
	list(t, newClient(p.target()), newSubject())
}

// Who may reach the token issuer is who started the program's to say.
func TestExposeIssuer(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir(), "-addr", "0.0.0.0:0", "-expose-issuer")
	p.onLoopback(t)
	list(t, newClient(p.target()), newSubject())
}

// list checks that a user can list plants, and returns them.
func list(t *testing.T, c *client, subject string) []plant {
	t.Helper()
	plants, err := walk(t, c, c.Token(t, TokenRequest{Subject: subject}), "?include=id")
	if err != nil {
		t.Fatal(err)
	}
	return plants
}

// A second process can't have the data of the first, and doesn't disturb it.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, program.Environ(), dir)
	c, subject := newClient(p.target()), newSubject()
	before := time.Now()
	refuses(t, program.Environ(), dir, nil, filepath.Join(dir, "plants.db"), "another process")
	if took := time.Since(before); took > 3*time.Second { // one, on a machine with nothing else to do
		t.Errorf("that took %v", took)
	}
	id := randomID()
	createAll(t, c, c.Token(t, TokenRequest{Subject: subject}), []plant{{ID: &id, Name: "Basil"}})
	if plants := list(t, c, subject); len(plants) != 1 {
		t.Errorf("the first process has %v", plants)
	}
}

// filled returns a data folder with some plants.
func filled(t *testing.T) (dir string) {
	dir = t.TempDir()
	p := start(t, program.Environ(), dir)
	c, first := newClient(p.target()), randomID()
	plants := make([]plant, 300)
	for i := range plants {
		id := first + int64(i)
		plants[i] = plant{&id, strings.Repeat("basil ", 40), nil}
	}
	createAll(t, c, c.Token(t, TokenRequest{Subject: "alice"}), plants)
	p.Kill()
	return dir
}

// A damaged file is named, and stays as it is.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	database, err := os.ReadFile(filepath.Join(dir, "plants.db"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(dir, "token-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 1<<16)
	rand.Read(noise)
	changed := func(b []byte, from int, with []byte) []byte {
		return append(append(bytes.Clone(b[:from]), with...), b[from+len(with):]...)
	}
	for name, test := range map[string]struct {
		file    string
		content []byte
	}{
		"database of noise":     {"plants.db", noise},
		"database of text":      {"plants.db", []byte("Basil\n")},
		"database, first half":  {"plants.db", database[:len(database)/2]},
		"database, first pages": {"plants.db", database[:2*os.Getpagesize()]},
		"database without head": {"plants.db", changed(database, 0, make([]byte, 2*os.Getpagesize()))},
		"database without tail": {"plants.db", changed(database, 2*os.Getpagesize(), make([]byte, len(database)-2*os.Getpagesize()))},
		"key of noise":          {"token-key.pem", noise},
		"key, empty":            {"token-key.pem", nil},
		"key, first half":       {"token-key.pem", key[:len(key)/2]},
		"key of another kind":   {"token-key.pem", rsaPEM(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := t.TempDir()
			for name, content := range map[string][]byte{"plants.db": database, "token-key.pem": key} {
				if name == test.file {
					content = test.content
				}
				if err := os.WriteFile(filepath.Join(copied, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(copied, test.file)
			refuses(t, program.Environ(), copied, nil, path)
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, test.content) {
				t.Errorf("the file is not what it was: %v", err)
			}
		})
	}
}

func rsaPEM(t *testing.T) []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// What is in the way of the data is named. (That the user lacks permission can
// be tested only where the tests don't run as root; see also the file systems
// of disk_linux_test.go.)
func TestNoDataFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, program.Environ(), file, nil, file)
	refuses(t, program.Environ(), filepath.Join(file, "data"), nil, file)
	for _, name := range []string{"plants.db", "token-key.pem"} {
		path := filepath.Join(dir, "data of "+name, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		refuses(t, program.Environ(), filepath.Dir(path), nil, path)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

// Nobody else can read the data.
func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "data")
	start(t, program.Environ(), dir)
	for name, want := range map[string]fs.FileMode{"": 0o700, "plants.db": 0o600, "token-key.pem": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %o, want %o", info.Name(), got, want)
		}
	}
}
