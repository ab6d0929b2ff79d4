package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants/plantstest"
)

// mustSay fails the test unless err is one line that contains all parts, and the
// first of them once.
func mustSay(t *testing.T, err error, parts ...string) {
	t.Helper()
	text := fmt.Sprint(err)
	for _, part := range parts {
		if !strings.Contains(text, part) || strings.Count(text, parts[0]) > 1 || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, parts)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	noErr(t, err)
	return b
}

// openClose opens the file at path and closes it.
func openClose(path string) error {
	s, err := Open(path)
	if err == nil {
		err = s.Close()
	}
	return err
}

// newDatabase returns the path of a new database. Each row is a bucket, a key and a value.
func newDatabase(t *testing.T, rows ...[3]string) string {
	t.Helper()
	path := newPath(t)
	db, err := bbolt.Open(path, 0o600, nil)
	noErr(t, err)
	noErr(t, db.Update(func(tx *bbolt.Tx) error {
		for _, row := range rows {
			bucket, err := tx.CreateBucket([]byte(row[0]))
			noErr(t, err)
			noErr(t, bucket.Put([]byte(row[1]), []byte(row[2])))
		}
		return nil
	}))
	noErr(t, db.Close())
	return path
}

// If several calls open a file that doesn't exist yet, one succeeds. The others report
// within a second that the file is open.
func TestOpenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in a bubble, only waiting takes time
		path, start := newPath(t), time.Now()
		var opened atomic.Int64
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				s, err := Open(path)
				if err != nil {
					mustSay(t, err, path, "another process has it open: stop that process")
					return
				}
				opened.Add(1)
				t.Cleanup(func() { noErr(t, s.Close()) })
			})
		}
		calls.Wait()
		if n, took := opened.Load(), time.Since(start); n != 1 || took > time.Second {
			t.Errorf("%d files are open after %v, want 1 after a second", n, took)
		}
	})
}

// Open waits for a process that is shutting down. The file may grow meanwhile.
func TestOpenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := newPath(t)
		s := openTest(t, path)
		opened := make(chan error)
		go func() { opened <- openClose(path) }()
		time.Sleep(300 * time.Millisecond)
		load(t, s, "alice", 0, 1000)
		noErr(t, s.Close())
		noErr(t, <-opened)
	})
}

// Open leaves files that aren't stores unchanged.
func TestOpenRefuses(t *testing.T) {
	database := func(row [3]string) []byte { return readFile(t, newDatabase(t, row)) }
	path := newPath(t)
	s := openTest(t, path)
	load(t, s, "alice", 0, 1000)
	whole := readFile(t, path)
	noErr(t, s.Create(t.Context(), "alice", plantstest.Example(1000)))
	var size int64
	noErr(t, s.db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil }))
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"text": {[]byte("plants: none\n"), "it is damaged: "},
		"zeros": {make([]byte, 64<<10),
			"it is damaged: invalid database: restore a backup, or move the file away"},
		"half": {whole[:len(whole)/2], "it is damaged: "},
		"two pages": {database([3]string{"meta", "format", "1"})[:2*os.Getpagesize()],
			"it is damaged: a page can't be read: restore a backup, or move"},
		"all but a byte": {readFile(t, path)[:size-1], "it is damaged: it has only "},
		"empty":          {nil, "it is empty: restore a backup, or remove"},
		"another program's": {database([3]string{"meta", "x", "y"}),
			"it isn't a file of this program, or was copied while in use: choose another data directory"},
		"no meta": {database([3]string{"ids", "x", "y"}), "it isn't a file of this program"},
		"a later format": {database([3]string{"meta", "format", "2"}),
			`format "2", but this version of the program supports only "1": use the version that wrote it`},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			noErr(t, os.WriteFile(path, test.file, 0o600))
			mustSay(t, openClose(path), path, test.want)
			if !bytes.Equal(readFile(t, path), test.file) {
				t.Error("Open changed the file")
			}
		})
	}
}

// A file system without locks or memory maps is told by many errors.
func TestAdviseLocalDisk(t *testing.T) {
	for _, err := range []error{syscall.ENODEV, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.ENOTSUP, syscall.Errno(524)} {
		mustSay(t, advise(err, "plants.db"), err.Error()+": the file system may not support locks or memory maps")
	}
}

// Open refuses a directory and leaves it alone. Docker creates one if the file that it should
// mount is missing. The error is the system's, without advice to remove anything.
func TestOpenDirectory(t *testing.T) {
	path := newPath(t)
	noErr(t, os.Mkdir(path, 0o700))
	err := openClose(path)
	mustSay(t, err, path)
	if _, cause, _ := strings.Cut(fmt.Sprint(err), path+": "); cause == "" || strings.Contains(cause, ": ") {
		t.Errorf("error %q, want the system's without advice", err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Errorf("Open replaced the directory: %v", err)
	}
}

// Openings create no file in place, for example at the target of a link whose disk has gone.
func TestOpenCreatesNothing(t *testing.T) {
	path := newPath(t)
	if db, err := openDB(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, %v, want %v", db, err, os.ErrNotExist)
	}
}
