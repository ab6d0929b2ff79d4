package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/issuer"
)

// The files of the data directory become private. What other users can write, or
// may have put there, is refused and left alone.
func TestSecureData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	user := os.Geteuid()
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		for _, test := range []struct {
			dir, file os.FileMode
			user      int
			link      bool
			want      string // in the error
		}{
			{dir: 0o755, file: 0o666, user: user},
			{dir: 0o720, file: 0o666, user: user, want: "chmod go-w "},
			{dir: 0o702, file: 0o666, user: user, want: "chmod go-w "},
			{dir: 0o755, file: 0o666, user: user + 1, want: "who could replace the files in it"},
			{dir: 0o755, file: 0o666, user: user, link: true, want: name + " is not a regular file"},
		} {
			dir := filepath.Join(t.TempDir(), "data")
			if err := secureData(dir, user); err != nil { // an absent file is all right
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			file := path
			if test.link {
				file = filepath.Join(t.TempDir(), "elsewhere")
				if err := os.Symlink(file, path); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for name, mode := range map[string]os.FileMode{dir: test.dir, file: test.file} {
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			err := secureData(dir, test.user)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir)) {
				t.Errorf("%+v: got %v", test, err)
			}
			if err == nil {
				test.file = 0o600
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != test.file {
				t.Errorf("%+v: the mode is %v, %v", test, info.Mode(), err)
			}
			if err := secureFile(path, user+1); err == nil {
				t.Errorf("%s of another user is accepted", name)
			}
		}
	}
}

// A start checks the directory, whichever of the two files it needs.
func TestInsecureData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	otherIssuer := func(name string) string {
		return map[string]string{config.TokenIssuer: "https://issuer.example", config.TokenAudience: "a", config.TokenJWKSURL: "https://issuer.example/keys"}[name]
	}
	for store, getenv := range map[string]func(string) string{"bolt": otherIssuer, "dynamodb": noEnv} {
		err := run(t.Context(), []string{"-addr", "127.0.0.1:0", "-data", dir, "-store", store}, getenv, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "chmod go-w "+dir) {
			t.Errorf("-store %s: %v", store, err)
		}
	}
}
