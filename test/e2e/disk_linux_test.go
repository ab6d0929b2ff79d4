package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/test/harness"
)

// While the disk is full, creates are answered 503 with the reason, and plants
// can be listed. Once there is room again, everything works. It must notice a plant that
// is lost although its create was answered 200, and a program that has to be restarted.
// Needs root, to mount a small file system.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=700"); err != nil {
		harness.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	p := start(t, harness.Environ(), dir)
	u, id := p.user(t), randomID()
	var acknowledged []element
	post := func(wanted ...int) answer {
		t.Helper()
		id++
		basil := plants.largest(id)
		a, err := plants.post(t, u, basil, wanted...)
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 {
			acknowledged = append(acknowledged, basil)
		}
		return a
	}
	post(200)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); err == nil {
		t.Fatal("the disk is larger than 4 MiB")
	}
	for n := 0; post(200, 503).status == 200; n++ { // the database file may have room inside
		if n == 10_000 {
			t.Fatal("the disk doesn't fill: the plants aren't stored")
		}
	}
	if a := post(503); !strings.Contains(a.body, "the storage is full or can't be written") {
		t.Errorf("%s", a.body)
	}
	plants.expect(t, u, acknowledged...)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		post(200)
	}
	p.stop(t)
	again := start(t, harness.Environ(), dir)
	plants.expect(t, newClient(again.target(), u.token), acknowledged...)
	again.stop(t) // or the file system can't be unmounted
}
