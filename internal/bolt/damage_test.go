package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// sample returns a file with pages of every kind: branches, leaves, a free list,
// and values that continue on further pages.
func sample(t *testing.T) []byte {
	t.Helper()
	path := newPath(t)
	s := openTest(t, path)
	load(t, s, "alice", 0, 400)
	for id := range int64(10) {
		long := strings.Repeat("\x00", plants.MaxNameLength) // 1.5 KiB in JSON
		create(t, s, "bob", plants.Plant{ID: 5000 + id, Name: long, Tag: &long})
		must(t, s.Delete(t.Context(), "alice", 40*id))
	}
	must(t, s.Close())
	return readFile(t, path)
}

// overwrite returns a copy of file with b at an offset.
func overwrite(file []byte, at int, b []byte) []byte {
	file = bytes.Clone(file)
	copy(file[at:], b)
	return file
}

// Without its newer meta page, a store has lost its last commit; without the older
// one, nothing.
func TestDamagedMetaPage(t *testing.T) {
	path, page := newPath(t), os.Getpagesize()
	s := openTest(t, path)
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
	create(t, s, "alice", plants.Plant{ID: 2, Name: "ivy"})
	newer := commits(t, s) % 2
	must(t, s.Close())
	good := readFile(t, path)
	for meta, want := range map[int]string{newer: "1 rose", 1 - newer: "1 rose, 2 ivy"} {
		path := newPath(t)
		must(t, os.WriteFile(path, overwrite(good, meta*page, make([]byte, page)), 0o600))
		if got := list(t, openTest(t, path), "alice"); got != want {
			t.Errorf("without meta page %d: alice has %q, want %q", meta, got, want)
		}
	}
}

// Whichever page is overwritten, the process survives, errors name the file, and
// no call hangs, Close included.
func TestDamagedPage(t *testing.T) {
	good, page := sample(t), os.Getpagesize()
	found := 0
	for at := 2 * page; at < len(good); at += page {
		for _, header := range []int{0, 16} { // overwritten too, or valid
			path := newPath(t)
			must(t, os.WriteFile(path, overwrite(good, at+header, bytes.Repeat([]byte{0xff}, page-header)), 0o600))
			s, err := Open(path)
			if err != nil {
				mustSay(t, err, path, "it is damaged")
			}
			if err != nil || useAll(t, s) {
				found++
			}
		}
	}
	// The remaining pages are free, or lie beyond the last page in use.
	if found < 40 {
		t.Errorf("only %d damaged pages were found", found)
	}
}

// The file shrinks while it is in use, as when someone copies another file over
// it. bbolt then faults with its locks held.
func TestDamageWhileOpen(t *testing.T) {
	path := newPath(t)
	must(t, os.WriteFile(path, sample(t), 0o600))
	s := openTest(t, path)
	must(t, os.Truncate(path, 0))
	if !useAll(t, s) {
		t.Error("no call found the damage")
	}
}

// useAll deletes, creates and lists, closes s, and reports whether any call met
// damage. From the first of those on, all must fail alike, and write nothing.
func useAll(t *testing.T, s *Store) (damaged bool) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if damaged = damaged || errors.Is(err, errDamaged); damaged {
			mustSay(t, err, "the plants file ", "it is damaged", "restore a backup")
		}
	}
	s.db.NoSync = true // for speed
	for id := int64(3); id < 400; id += 11 {
		check(s.Delete(t.Context(), "alice", id))
	}
	for _, owner := range []string{"alice", "bob"} {
		check(s.Create(t.Context(), owner, plants.Plant{ID: 3000, Name: "x"}, plants.NewIdempotencyKey()))
		_, err := s.List(t.Context(), owner, plants.Query{Limit: maxPage})
		check(err)
	}
	must(t, s.Close())
	return damaged
}

// Once damage was found, what waits for a commit is not written any more.
func TestNoWriteAfterDamage(t *testing.T) {
	s := openTest(t, newPath(t))
	breakStore := func(*bbolt.Tx) (func() error, error) {
		return func() error { return s.guard(func() error { return damaged("in this test") }) }, nil
	}
	for i, err := range together(t, s, 3, func(i int64) error {
		if i == 1 {
			return s.write(t.Context(), breakStore)
		}
		return s.Create(t.Context(), "alice", plants.Plant{ID: i, Name: "rose"}, plants.NewIdempotencyKey())
	}) {
		if (i > 0) != errors.Is(err, errDamaged) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// A bug's panic reaches the call that has it, with its stack. The change is rolled
// back, and calls that shared the commit are carried out.
func TestBug(t *testing.T) {
	for want, bug := range map[string]func(*bbolt.Tx){
		"boom":               func(*bbolt.Tx) { panic("boom") },
		"nil pointer":        func(tx *bbolt.Tx) { tx.Bucket([]byte("typo")).Get([]byte("x")) },
		"index out of range": func(*bbolt.Tx) { parseID(nil) },
	} {
		s := openTest(t, newPath(t))
		buggy := func(p plan) error {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, want) || !strings.Contains(text, "bolt.TestBug") {
					t.Errorf("%s: panic %q", want, text)
				}
			}()
			return s.write(t.Context(), p)
		}
		_ = buggy(func(tx *bbolt.Tx) (func() error, error) { bug(tx); return nil, nil })
		for i, err := range together(t, s, 4, func(i int64) error {
			if i == 2 {
				return buggy(func(tx *bbolt.Tx) (func() error, error) {
					return func() error { defer bug(tx); return tx.DeleteBucket(plantsBucket) }, nil
				})
			}
			return s.Create(t.Context(), "alice", plants.Plant{ID: i, Name: "rose"}, plants.NewIdempotencyKey())
		}) {
			if err != nil {
				t.Errorf("%s: call %d: %v", want, i, err)
			}
		}
		if got := list(t, s, "alice"); got != "0 rose, 1 rose, 3 rose" {
			t.Errorf("%s: there are %q", want, got)
		}
	}
}
