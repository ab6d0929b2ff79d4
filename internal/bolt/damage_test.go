package bolt

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// sample returns a file with pages of every kind: branches, leaves, a free list,
// and values that continue on further pages.
func sample(t testing.TB) []byte {
	t.Helper()
	path := newPath(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	load(t, s, "alice", -200, 400)
	load(t, s, "bob", 1000, 30)
	long := string(bytes.Repeat([]byte("\x00"), plants.MaxNameLength)) // 1.5 KiB in JSON
	for id := range int64(10) {
		create(t, s, "carol", plants.Plant{ID: 5000 + id, Name: long, Tag: &long})
	}
	for id := int64(-200); id < 100; id += 33 {
		if err := s.Delete(t.Context(), "alice", id); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRejectsDamage(t *testing.T) {
	good, page := sample(t), os.Getpagesize()
	patched := func(at int, b ...byte) []byte {
		bad := bytes.Clone(good)
		copy(bad[at:], b)
		return bad
	}
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"empty":              {nil, "it is empty"},
		"text":               {[]byte("plants: none\n"), "invalid database"},
		"zeros":              {make([]byte, 64<<10), "invalid database"},
		"one page":           {good[:page], "file size too small"},
		"meta pages only":    {good[:2*page], "bytes instead of"},
		"half":               {good[:len(good)/2], "bytes instead of"},
		"meta 0 zeroed":      {patched(0, make([]byte, page)...), "meta page 0 has a wrong checksum"},
		"meta 1 zeroed":      {patched(page, make([]byte, page)...), "meta page 1 has a wrong checksum"},
		"both metas zeroed":  {patched(0, make([]byte, 2*page)...), "invalid database"},
		"bit flip in meta 0": {patched(20, good[20]^1), "meta page 0 has a wrong checksum"},
		"metas intact":       {patched(2*page, make([]byte, len(good)-2*page)...), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			writeFile(t, path, test.file)
			mustRefuse(t, path, path, "it is damaged", test.want, "restore a backup, or move the file away")
		})
	}
}

// Whichever page is overwritten, the process survives, errors name the file, and
// no call hangs, Close included.
func TestDamagedPage(t *testing.T) {
	good, page := sample(t), os.Getpagesize()
	found := 0
	for at := 2 * page; at < len(good); at += page {
		bad := bytes.Clone(good)
		copy(bad[at:], bytes.Repeat([]byte{0xff}, page))
		path := newPath(t)
		writeFile(t, path, bad)
		s, err := Open(path)
		if err != nil {
			mustSay(t, err, path, "it is damaged")
			found++
			continue
		}
		s.db.NoSync = true // for speed
		if useAll(t, s) {
			found++
		}
	}
	// The remaining pages are free, or lie beyond the last page in use.
	if found < 20 {
		t.Errorf("only %d damaged pages were found", found)
	}
}

// useAll lists, creates and deletes, closes s, and reports whether any call met
// damage. From the first of those on, all must fail alike.
func useAll(t *testing.T, s *Store) (damaged bool) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		isDamage := errors.Is(err, errDamaged)
		if isDamage {
			mustSay(t, err, s.path, "it is damaged", "restore a backup")
		}
		if damaged && !isDamage {
			t.Errorf("after damage: %v", err)
		}
		damaged = damaged || isDamage
	}
	inTime(t, func() {
		for id := int64(-197); id < 200; id += 11 {
			check(s.Delete(t.Context(), "alice", id))
		}
		for _, owner := range []string{"alice", "bob", "carol"} {
			for id := range int64(3) {
				check(s.Create(t.Context(), owner, plants.Plant{ID: 3000 + id, Name: "x"}, plants.NewIdempotencyKey()))
			}
			_, err := s.List(t.Context(), owner, plants.Query{Limit: maxPage})
			check(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return damaged
}

// inTime fails the test unless fn returns within seconds.
func inTime(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("a call hangs")
	}
}

// The file shrinks while it is in use, as when someone copies another file over
// it. bbolt then faults with its locks held.
func TestDamageWhileOpen(t *testing.T) {
	path := newPath(t)
	writeFile(t, path, sample(t))
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if !useAll(t, s) {
		t.Error("no call found the damage")
	}
}

// Once damage was found, even by another call, nothing is written any more.
func TestNoWriteAfterDamage(t *testing.T) {
	s := openTest(t, newPath(t))
	before := commits(t, s)
	s.fail(damaged("in this test"))
	if err := s.Create(t.Context(), "alice", plants.Plant{ID: 1, Name: "rose"}, "token"); !errors.Is(err, errDamaged) {
		t.Errorf("error %v", err)
	}
	time.Sleep(20 * time.Millisecond)
	if commits(t, s) != before {
		t.Error("the plant was stored")
	}
}
