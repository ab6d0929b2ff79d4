package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"example.com/plantstore/test/harness"
)

// If there is no space for a new file, Open returns an error. Once there is, it succeeds.
func TestOpenOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		harness.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	defer syscall.Unmount(dir, 0)
	path, filler := filepath.Join(dir, "plants.db"), filepath.Join(dir, "filler")
	for room := range int64(4) { // pages
		_ = os.WriteFile(filler, make([]byte, 2<<20), 0o600) // as much as fits
		info, err := os.Stat(filler)
		noErr(t, err)
		noErr(t, os.Truncate(filler, info.Size()-room*int64(os.Getpagesize())))
		mustSay(t, openClose(path), path, "no space left", "free some disk space")
		noErr(t, os.Remove(filler))
		noErr(t, openClose(path))
		noErr(t, os.Remove(path))
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("Open left %v, %v", entries, err)
		}
	}
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
	path := newPath(t)
	noErr(t, openClose(path))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, want 600, %v", info.Mode(), err)
	}
}

// When Open returns, the names of a new file and of its directory, which may be new too, are
// on disk. When Create returns, the plant is on disk. The test must fail if a sync is missing
// or comes too early.
func TestSyncs(t *testing.T) {
	const variable = "BOLT_TEST_SYNCS" // set in the process that is watched
	if path := os.Getenv(variable); path != "" {
		s := openTest(t, path)
		noErr(t, s.Create(t.Context(), "alice", rose(1)))
		return
	}
	path := newPath(t)
	dir := filepath.Dir(path)
	want := []string{
		// Open. The file has a temporary name until it is complete.
		"sync " + path + ".N", "name " + path, "sync " + dir, "sync " + filepath.Dir(dir),
		// The commits of Open and Create.
		"sync " + path,
	}
	if got := harness.Syncs(t, "TestSyncs", variable+"="+path); !slices.Equal(got, want) {
		t.Errorf("Open and Create make the calls\n%q, want\n%q", got, want)
	}
}
