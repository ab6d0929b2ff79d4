package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A new data directory is private. One that exists is used as it is, for example if its group
// can write to it.
func TestCreateData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o770|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]os.FileMode{shared: 0o770, filepath.Join(shared, "new"): 0o700} {
		if err := createData(dir); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: the mode is %v, %v, want %v", dir, info.Mode(), err, want)
		}
	}
}

// The message for an unusable value of -data is the system's, unless that sounds like something else.
func TestInvalidData(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(filepath.Join(dir, "x"), link)); err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		"": ": name a directory that you can write to", file: ": name a directory that you can write to",
		"~/plants": "-data ~/plants: no shell has replaced ~", "~": ": no shell has replaced ~",
		link: "-data: mkdir " + link + ": file exists: it is a link to nothing; mount its disk, or create the directory",
	} {
		if err := createData(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("-data %q: got %v, want %s", data, err, want)
		}
	}
}
