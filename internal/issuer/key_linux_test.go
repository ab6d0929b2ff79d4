package issuer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/internal/testing/harness"
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
	if got := keys(dir); !strings.HasPrefix(got, "can't create the token key "+dir) {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if got := keys(dir); !strings.Contains(got, `"kid"`) {
		t.Errorf("with space again: got %s", got)
	}
}
