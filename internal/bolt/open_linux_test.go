package bolt

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/test/harness"
)

// If there is no space for a new file, Open says so, and the next one succeeds.
func TestOpenOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		harness.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	defer syscall.Unmount(dir, 0)
	path, filler := filepath.Join(dir, "plants.db"), filepath.Join(dir, "filler")
	for room := range int64(4) { // pages
		_ = os.WriteFile(filler, make([]byte, 2<<20), 0o600) // up to what fits
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
	dir := filepath.Join(t.TempDir(), "a", "b")
	openTest(t, filepath.Join(dir, "plants.db"))
	for name, want := range map[string]fs.FileMode{"..": fs.ModeDir | 0o700, ".": fs.ModeDir | 0o700, "plants.db": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, want %v, %v", name, info.Mode(), want, err)
		}
	}
}

// A new file's name and that of its directory are on disk after Open, and a record
// after Create.
func TestSyncs(t *testing.T) {
	const variable = "BOLT_TEST_SYNCS" // set in the process that strace watches
	if path := os.Getenv(variable); path != "" {
		noErr(t, openTest(t, path).Create(t.Context(), "alice", rose(1), "key"))
		return
	}
	harness.Need(t, "strace")
	dir := t.TempDir()
	path, trace := filepath.Join(dir, "new", "plants.db"), filepath.Join(dir, "trace")
	cmd := exec.Command("strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace, os.Args[0], "-test.run=^TestSyncs$")
	cmd.Env = append(os.Environ(), variable+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	calls := string(readFile(t, trace))
	// Each commit syncs its pages and then the meta page. There are two: those of Open and Create.
	for call, want := range map[string]int{"<" + path + ">": 4, "<" + filepath.Dir(path) + ">": 1, "<" + dir + ">": 1} {
		if n := strings.Count(calls, call); n != want {
			t.Errorf("%d syncs of %s, want %d:\n%s", n, call, want, calls)
		}
	}
}
