package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

// mount returns a directory that is a small file system of its own. This needs
// root.
func mount(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		tools.Missing(t, fmt.Errorf("no small file systems: run the tests as root: %w", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// While the disk is full, creates are answered 503 with the reason, and plants
// can be listed. Once there is room again, everything works. Package bolt tests a
// start on a full disk.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := mount(t, "4m")
	p := start(t, program.Environ(), dir)
	c, token := p.user(t)
	var acknowledged []plant
	post := func() answer {
		t.Helper()
		id := randomID()
		basil := plant{ID: &id, Name: strings.Repeat("basil ", 40)}
		a, err := create(t, c, token, basil)
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 {
			acknowledged = append(acknowledged, basil)
		}
		return a
	}
	for range 10 {
		expectStatus(t, 200)(post(), nil)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); err == nil {
		t.Fatal("the disk is larger than 4 MiB")
	}
	for post().status == 200 { // the database file may have room inside
	}
	for range 3 {
		if a := post(); a.status != 503 || !strings.Contains(string(a.body), "the storage is full or can't be written") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	expectSame(t, c, token, acknowledged)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		expectStatus(t, 200)(post(), nil)
	}
	p.Stop(t)
	again := start(t, program.Environ(), dir)
	expectSame(t, newClient(again.target()), token, acknowledged)
	again.Stop(t) // or the file system can't be unmounted
}

// expectSame checks that the list has exactly these plants, given in any order.
func expectSame(t *testing.T, c *client, token string, plants []plant) {
	t.Helper()
	slices.SortFunc(plants, func(a, b plant) int { return cmp.Compare(*a.ID, *b.ID) })
	expectPlants(t, c, token, plants...)
}
