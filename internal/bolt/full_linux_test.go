package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/plantstore/internal/plants"
)

// skip skips a test for lack of means, except in CI, which has to have them.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// smallDisk returns the root of a file system of 1 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m")
	if errors.Is(err, fs.ErrPermission) {
		skip(t, "to have a disk that is full, this test mounts one, and must be root for that")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk leaves no room in dir, and returns what gives it back.
func fillDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiskFull(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "plants.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "bob", plants.Plant{ID: -1, Name: "rose"})
	free := fillDisk(t, dir)
	n := fill(t, s)
	mustHave(t, s, n)
	for range 3 {
		if err := s.Create(t.Context(), "bob", plants.Plant{ID: -2, Name: "ivy"}, plants.NewWriteToken()); err != nil &&
			!errors.Is(err, plants.ErrUnreachable) {
			t.Error(err)
		}
	}
	mustHave(t, s, n)

	free()
	create(t, s, "bob", plants.Plant{ID: -3, Name: "fern"})
	if err := s.Delete(t.Context(), "bob", -1); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, s, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A new store that finds no room for itself says so, and does not take what
// there is of it for a damaged one when there is room.
func TestDiskFullAtStart(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "plants.db")
	for room := range 12 { // pages
		free := fillDisk(t, dir)
		if err := os.Truncate(filepath.Join(dir, "filler"), int64(1<<20-(room+2)*4096)); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path); err == nil {
			err = s.Close()
			if err != nil {
				t.Error(err)
			}
		} else {
			mustSay(t, err, path, "no space left", "make room")
		}
		free()
		s, err := Open(path)
		if err != nil {
			t.Fatalf("after a start with %d pages of room: %v", room, err)
		}
		create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
