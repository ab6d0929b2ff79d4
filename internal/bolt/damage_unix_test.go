//go:build unix

// Windows truncates no mapped file, and removes no open one.

package bolt

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
)

// overwrite returns the path of a copy of file, with n bytes of garbage at an offset.
func overwrite(t *testing.T, file []byte, at, n int, garbage byte) string {
	t.Helper()
	path := newPath(t)
	file = bytes.Clone(file)
	copy(file[at:], bytes.Repeat([]byte{garbage}, n))
	noErr(t, os.WriteFile(path, file, 0o600))
	return path
}

// Without its newer meta page, a file has lost its last commit; without the older one,
// nothing.
func TestDamagedMetaPage(t *testing.T) {
	path, size := newPath(t), os.Getpagesize()
	s := openTest(t, path)
	load(t, s, "alice", 1, 1)
	load(t, s, "alice", 2, 1)
	newer := commits(t, s.file) % 2
	noErr(t, s.file.Close())
	good := readFile(t, path)
	for meta, want := range map[int]int{newer: 1, 1 - newer: 2} {
		page, err := openTest(t, overwrite(t, good, meta*size, size, 0)).List(t.Context(), "alice", records.Query{Limit: 10})
		if err != nil || len(page.Records) != want {
			t.Errorf("without meta page %d: %v, %v, want %d plants", meta, page, err, want)
		}
	}
}

// Whichever page is overwritten, the process survives, errors are one line that says
// what to do, and no call hangs, Close included.
func TestDamagedPage(t *testing.T) {
	path, size := newPath(t), os.Getpagesize()
	s := openTest(t, path)
	load(t, s, "alice", 0, 400)
	noErr(t, s.Delete(t.Context(), "alice", 40)) // frees pages
	noErr(t, s.file.Close())
	good, refused, found := readFile(t, path), 0, 0
	for at := 2 * size; at < len(good); at += size {
		for _, garbage := range []struct {
			at, n int
			b     byte
		}{
			{0, size, 0}, {8, size - 8, 0xff}, {16, size - 16, 0xff}, // also keep the page's id, or its header
			{16 + 3*16 + 4, 4, 0x7f}, // the fourth element of a leaf lies beyond the file
		} {
			path := overwrite(t, good, at+garbage.at, garbage.n, garbage.b)
			if file, err := Open(path); err != nil {
				mustSay(t, err, path, "it is damaged", "restore a backup")
				refused++
			} else if useAll(t, NewStore[plants.Plant](file, "ids", "plants")) {
				found++
			}
		}
	}
	// The other pages are free, or beyond the last one in use.
	if refused < 3 || found < 20 {
		t.Errorf("Open refused %d files, and calls found damage in %d", refused, found)
	}
}

// The file shrinks while it is open, as when someone copies another over it.
func TestDamageWhileOpen(t *testing.T) {
	for _, pages := range []int{0, 2} { // even without meta pages, or without others
		s := openTest(t, newPath(t))
		load(t, s, "alice", 0, 400)
		noErr(t, os.Truncate(s.file.path, int64(pages*os.Getpagesize())))
		if !useAll(t, s) {
			t.Error("no call found the damage")
		}
	}
}

// useAll lists, creates and deletes, closes the file, and reports whether any call met
// damage. Once a write has, all others must.
func useAll(t *testing.T, s *plantRecords) bool {
	t.Helper()
	s.file.db.NoSync = true // for speed
	_, listed := s.List(t.Context(), "alice", records.Query{Limit: maxPage})
	writes := []error{s.Create(t.Context(), "alice", rose(3000), "key"), s.Create(t.Context(), "bob", rose(3001), "key")}
	for id := int64(3); id < 400; id += 50 {
		writes = append(writes, s.Delete(t.Context(), "alice", id))
	}
	noErr(t, s.file.Close())
	stopped := false
	for i, err := range append(writes, listed) {
		switch {
		case errors.Is(err, errDamaged):
			mustSay(t, err, "the data file "+s.file.path, "it is damaged", "restore a backup")
			stopped = true
			if errors.Is(err, records.ErrUnwritable) {
				t.Errorf("%v invites to a retry", err)
			}
		case stopped && i < len(writes), err != nil && !errors.Is(err, records.ErrNotFound):
			t.Errorf("call %d: %v after %v", i, err, writes)
		}
	}
	return stopped
}

// A panic that isn't bbolt's is a bug, which must not look like damage.
func TestBug(t *testing.T) {
	defer func() {
		if v := recover(); v != "a bug" {
			t.Errorf("recovered %v", v)
		}
	}()
	t.Error(new(File).guard(func() error { panic("a bug") }))
}
