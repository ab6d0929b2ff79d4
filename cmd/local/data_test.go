package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/test/harness"
)

// secureData makes the program's files private.
func TestSecureData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := secureData(dir); err != nil { // creates it
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the mode of the directory is %v, %v", info.Mode(), err)
	}
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o644), secureData(dir)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the mode of %s is %v, %v", name, info.Mode(), err)
		}
	}
}

// A file that isn't regular is rejected and left alone.
func TestSecureDataRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.WriteFile(elsewhere, nil, 0o600), os.Chmod(elsewhere, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		for want, create := range map[string]func(path string) error{
			"is a directory, not a file: move it away": func(path string) error { return os.Mkdir(path, 0o755) },
			"is not a regular file: move it away":      func(path string) error { return os.Symlink(elsewhere, path) },
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := create(path); err != nil {
				t.Fatal(err)
			}
			if err := secureData(dir); err == nil || !strings.Contains(err.Error(), path+" "+want) {
				t.Errorf("got %v, want %s %s", err, path, want)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o044 == 0 {
				t.Errorf("the mode of %s has changed to %v, %v", path, info.Mode(), err)
			}
		}
	}
}

// The message for an unusable value of -data explains why.
func TestInvalidData(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		"":                          "-data is empty: name a directory, such as .data",
		file:                        "-data: " + file + " is a file: name a directory",
		filepath.Join(file, "data"): "-data: " + file + " is a file: name a directory",
		filepath.Join(dir, "\x00"):  "choose a directory that you can write to",
	} {
		if err := secureData(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("-data %q: got %v, want %s", data, err, want)
		}
	}
}

// A directory that other users can write to is rejected, whichever of the two files the
// program needs.
func TestInsecureData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	otherIssuer := func(name string) string {
		return map[string]string{config.EnvTokenIssuer: "https://issuer.example", config.EnvTokenAudience: "a", config.EnvTokenJWKSURL: "https://issuer.example/keys"}[name]
	}
	for store, getenv := range map[string]func(string) string{"bolt": otherIssuer, "dynamodb": noEnv} {
		for _, mode := range []os.FileMode{0o720, 0o702} {
			dir := t.TempDir()
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), harness.Patience) // in case it serves
			defer cancel()
			err := run(ctx, []string{"-addr", "127.0.0.1:0", "-data", dir, "-store", store}, getenv, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), "chmod go-w "+dir) {
				t.Errorf("-store %s, mode %v: %v", store, mode, err)
			}
		}
	}
}
