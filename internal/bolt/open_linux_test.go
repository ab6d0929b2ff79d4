package bolt

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"example.com/plantstore/test/harness"
)

func TestOpenOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		harness.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	defer syscall.Unmount(dir, 0)
	path := filepath.Join(dir, "plants.db")
	_ = os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 2<<20), 0o600) // up to what fits
	mustSay(t, openClose(path), path, "no space left", "free some disk space")
}

func TestOpenWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		noErr(t, syscall.Setfsuid(65534))
	}
	const path = "/plants.db"
	mustSay(t, openClose(path), path, "permission denied: let this user read and write the file and its directory")
}

func TestNewFileIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	openTest(t, filepath.Join(dir, "plants.db"))
	for name, want := range map[string]fs.FileMode{"..": fs.ModeDir | 0o700, ".": fs.ModeDir | 0o700, "plants.db": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, want %v, %v", name, info.Mode(), want, err)
		}
	}
}
