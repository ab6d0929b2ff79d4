package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/tools"
)

// If there is no space for a new store, Open says so, and leaves nothing behind
// that would stop the next Open.
func TestOpenOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		tools.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	defer syscall.Unmount(dir, 0)
	path, filler := filepath.Join(dir, "plants.db"), filepath.Join(dir, "filler")
	failed := 0
	for room := range int64(12) { // pages
		_ = os.WriteFile(filler, make([]byte, 2<<20), 0o600) // up to what fits
		if err := os.Truncate(filler, 1<<20-(room+2)*4096); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			mustSay(t, err, path, "no space left", "free some disk space")
			failed++
		} else if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(path); err != nil {
			t.Fatalf("after an Open with %d free pages: %v", room, err)
		}
		create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
		if err := errors.Join(s.Close(), os.Remove(path)); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
	if failed < 4 {
		t.Errorf("only %d times was there no space", failed)
	}
}

// openAsNobody opens the store at path as a user who owns no files.
func openAsNobody(path string) error {
	result := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			if err := syscall.Setfsuid(65534); err != nil {
				result <- err
				return
			}
		}
		s, err := Open(path)
		if err == nil {
			err = s.Close()
		}
		result <- err
	}()
	return <-result
}

func TestOpenWithoutPermission(t *testing.T) {
	const advice = "let this user read and write the file and its directory"
	dir := t.TempDir()
	path := filepath.Join(dir, "plants.db")
	chmod := func(name string, mode fs.FileMode) {
		t.Helper()
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(filepath.Dir(dir), 0o755) // so that nobody can reach it
	if err := openTest(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0, 0o200, 0o400, 0o444} {
		chmod(path, mode)
		mustSay(t, openAsNobody(path), path, "permission denied", advice)
	}
	chmod(path, 0o666)
	if err := openAsNobody(path); err != nil {
		t.Error(err)
	}
	chmod(dir, 0o555)
	defer chmod(dir, 0o700)
	for _, name := range []string{"new.db", "sub/plants.db"} {
		path := filepath.Join(dir, name)
		mustSay(t, openAsNobody(path), path, "permission denied", advice)
	}
}
