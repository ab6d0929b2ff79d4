package newfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// create creates the file at path with the given content. It calls during before the
// file is complete.
func create(path, content string, during func() error) error {
	return Ensure(path, func(temp string) error {
		return errors.Join(os.WriteFile(temp, []byte(content), 0o600), during())
	})
}

func nothing() error { return nil }

// expect checks the content of the only file in the directory of path, which must be
// private.
func expect(t *testing.T, path, want string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if content, _ := os.ReadFile(path); err != nil || len(entries) != 1 || string(content) != want {
		t.Fatalf("%v, %v: the file contains %q, want %q", entries, err, content, want)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v, want 600, %v", info.Mode(), err)
	}
}

// A failure leaves nothing, and Ensure can be called again.
func TestFailure(t *testing.T) {
	path, full := filepath.Join(t.TempDir(), "file"), errors.New("disk full")
	if err := create(path, "half", func() error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if err := create(path, "whole", nothing); err != nil {
		t.Error(err)
	}
	expect(t, path, "whole")
}

// The file of a quicker process is kept, since it may be in use already.
func TestTwoAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := create(path, "slow", func() error { return create(path, "quick", nothing) }); err != nil {
		t.Error(err)
	}
	if err := create(path, "late", nothing); err != nil {
		t.Error(err)
	}
	expect(t, path, "quick")
}

// A link to nothing is left alone, since the disk of its target may not be mounted. A link to a file is a file.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err) // Windows may not let this user create links
	}
	if err := create(link, "", nothing); err == nil || !strings.Contains(err.Error(), "link to "+target) {
		t.Errorf("a link to nothing: %v", err)
	}
	if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its target was made: %v", err)
	}
	if err := errors.Join(create(target, "", nothing), create(link, "", nothing)); err != nil {
		t.Errorf("a link to a file: %v", err)
	}
}
