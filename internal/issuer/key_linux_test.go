package issuer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"example.com/plantstore/test/harness"
)

// If the disk is full, no part of a key is left, which would be invalid for ever.
func TestKeyOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		harness.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	defer syscall.Unmount(dir, 0)
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 128<<10), 0o600) // up to what fits
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

// A power failure doesn't undo a key that tokens are signed with already. ext4 can
// imitate one: it drops what isn't on disk.
func TestKeyAfterPowerFailure(t *testing.T) {
	harness.Need(t, "mkfs.ext4", "mount", "umount")
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			harness.Missing(t, fmt.Errorf("no file systems in files: run the tests as root: %s %q: %v\n%s", name, args, err, out))
		}
	}
	run("mkfs.ext4", "-q", image, "4M")
	run("mount", "-o", "loop", image, dir)
	t.Cleanup(func() { run("umount", dir) })
	before := keys(dir)
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	const shutdown, noLogFlush = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	flags := uint32(noLogFlush)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, d.Fd(), shutdown, uintptr(unsafe.Pointer(&flags)))
	d.Close()
	if errno != 0 {
		t.Fatal(errno)
	}
	run("umount", dir)
	run("mount", "-o", "loop", image, dir)
	if after := keys(dir); after != before {
		t.Errorf("got the keys %s, then %s", before, after)
	}
}
