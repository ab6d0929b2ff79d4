package issuer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/internal/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A full disk leaves no incomplete key, which would remain invalid.
func TestKeyOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		harness.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	defer syscall.Unmount(dir, 0)
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 128<<10), 0o600) // as much as fits
	if got := keys(dir); !strings.HasPrefix(got, "can't create the token key "+dir) || !strings.Contains(got, "no space left on device: choose ") {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if got := keys(dir); !strings.Contains(got, `"kid"`) {
		t.Errorf("with space again: got %s", got)
	}
}

// A power failure doesn't lose a key that has signed tokens. The complete key is on disk
// before it gets its name, and the name is on disk before the first token. The test must
// fail if one of these syncs is missing.
func TestKeySyncs(t *testing.T) {
	const variable = "ISSUER_TEST_SYNCS" // set in the process that is watched
	if dir := os.Getenv(variable); dir != "" {
		if got := keys(dir); !strings.Contains(got, `"kid"`) {
			t.Error(got)
		}
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, KeyFile)
	want := []string{"sync " + path + ".N", "name " + path, "sync " + dir, "sync " + filepath.Dir(dir)} // first a temporary name
	if got := harness.Syncs(t, "TestKeySyncs", variable+"="+dir); !slices.Equal(got, want) {
		t.Errorf("a new key makes the calls\n%q, want\n%q", got, want)
	}
}
