package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// mustSay fails the test unless err is one line that contains all parts, and the
// first of them once.
func mustSay(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
	if strings.Count(err.Error(), parts[0]) > 1 {
		t.Errorf("error %q contains %q twice", err, parts[0])
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has several lines", err)
	}
}

// A process that only reads the file, such as a tool of bbolt, holds a shared lock.
// Open reports it within a second.
func TestReaderHasFile(t *testing.T) {
	path := newPath(t)
	writeFile(t, path, sample(t))
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		mustRefuse(t, path, path, "another process has it open", "stop that process")
		if took := time.Since(start); took > time.Second {
			t.Errorf("Open took %v", took)
		}
	})
}

// A file of a machine with other pages can be opened, and one with more free pages
// than a page's header can count.
func TestManyFreePages(t *testing.T) {
	const pages, size = 71_000, 1 << 10 // some hold the list of free pages
	path, key := newPath(t), []byte("x")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: size, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range []func(*bbolt.Tx) error{
		makeBuckets,
		func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(key, make([]byte, pages*size)) },
		func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(key) },
	} {
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, path)
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
	if n := s.db.Stats().FreePageN; n < 70_000 {
		t.Errorf("the file has %d free pages", n)
	}
}

// If several open a file that doesn't exist yet, one of them gets it.
func TestOpenAtOnce(t *testing.T) {
	path := newPath(t)
	var mu sync.Mutex
	var stores []*Store
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := Open(path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				stores = append(stores, s)
				return
			}
			mustSay(t, err, path, "another process has it open")
		})
	}
	wg.Wait()
	if len(stores) != 1 {
		t.Fatalf("%d stores are open, want 1", len(stores))
	}
	create(t, stores[0], "alice", plants.Plant{ID: 1, Name: "rose"})
	if err := stores[0].Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no such modes
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "plants.db")
	openTest(t, path)
	for name, want := range map[string]fs.FileMode{
		filepath.Dir(dir): fs.ModeDir | 0o700, dir: fs.ModeDir | 0o700, path: 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err) // temporary files
	}
}

// A file that another process created meanwhile is not overwritten.
func TestCreateFileKeepsExisting(t *testing.T) {
	path := newPath(t)
	s := openTest(t, path)
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
	if err := createFile(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, openTest(t, path), "alice"); got != "1 rose" {
		t.Errorf("alice has %q", got)
	}
}

// change runs fn in a transaction on the bbolt database at path, which may be
// new.
func change(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(fn); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOtherDatabases(t *testing.T) {
	without := func(bucket []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return errors.Join(makeBuckets(tx), tx.DeleteBucket(bucket)) }
	}
	tests := []struct {
		title string
		make  func(*bbolt.Tx) error
		want  []string
	}{
		{"no buckets", func(*bbolt.Tx) error { return nil },
			[]string{"of another program", "choose another data directory"}},
		{"another program's buckets", func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("users"))
			return err
		}, []string{"of another program"}},
		{"another program's meta", func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(metaBucket)
			return err
		}, []string{"of another program"}},
		{"a later format", func(tx *bbolt.Tx) error {
			return errors.Join(makeBuckets(tx), tx.Bucket(metaBucket).Put(formatKey, []byte("2")))
		}, []string{`format "2"`, `only "1"`, "use the version that wrote it"}},
		{"no ids", without(idsBucket), []string{"a bucket is missing", "damaged"}},
		{"no plants", without(plantsBucket), []string{"a bucket is missing", "damaged"}},
	}
	for _, test := range tests {
		t.Run(test.title, func(t *testing.T) {
			path := newPath(t)
			change(t, path, test.make)
			mustRefuse(t, path, append([]string{path}, test.want...)...)
		})
	}
}

// mustRefuse fails the test unless Open returns an error that contains all parts,
// and leaves the file at path unchanged.
func mustRefuse(t *testing.T, path string, parts ...string) {
	t.Helper()
	before, info := snapshot(t, path)
	_, err := Open(path)
	mustSay(t, err, parts...)
	after, infoAfter := snapshot(t, path)
	if before != after || !info.ModTime().Equal(infoAfter.ModTime()) || info.Mode() != infoAfter.Mode() {
		t.Error("Open changed the file")
	}
}

func snapshot(t *testing.T, path string) (string, fs.FileInfo) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), info
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir)
	mustSay(t, err, dir, "not a regular file")

	file := filepath.Join(dir, "file")
	writeFile(t, file, []byte("x"))
	below := filepath.Join(file, "plants.db")
	_, err = Open(below)
	mustSay(t, err, below)
}
