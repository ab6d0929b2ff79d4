package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/tools"
)

// mustSay fails the test unless err is one line that contains all parts, and the
// first of them once.
func mustSay(t *testing.T, err error, parts ...string) {
	t.Helper()
	text := fmt.Sprint(err)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("error %q does not contain %q", text, part)
		}
	}
	if strings.Count(text, parts[0]) > 1 || strings.Contains(text, "\n") {
		t.Errorf("error %q has several lines, or %q twice", text, parts[0])
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// mustBeNew uses the store at path, which must have no plants and be the only file
// of its directory.
func mustBeNew(t *testing.T, path string) {
	t.Helper()
	s := openTest(t, path)
	if got := list(t, s, "alice"); got != "" {
		t.Errorf("alice has %q", got)
	}
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
	must(t, s.Close())
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// A process that is killed during its first start leaves no store or a complete
// one, and nothing that stops the next start.
func TestKilledFirstStart(t *testing.T) {
	const variable = "BOLT_TEST_FIRST_STARTS" // a directory
	start := func(dir string, i int) string { return filepath.Join(dir, fmt.Sprint(i), "plants.db") }
	if dir := os.Getenv(variable); dir != "" { // this is the process to kill
		for i := 0; ; i++ {
			must(t, openTest(t, start(dir, i)).Close())
		}
	}
	for range 20 {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), variable+"="+dir)
		must(t, cmd.Start())
		tools.Await(t, func() error { _, err := os.Stat(start(dir, 0)); return err })
		time.Sleep(rand.N(20 * time.Millisecond))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		entries, err := os.ReadDir(dir)
		must(t, err)
		path := start(dir, len(entries)-1)
		_ = os.Remove(path + ".lock") // the last step was to remove it
		mustBeNew(t, path)
	}
}

// What killed processes leave behind doesn't matter, wherever they were.
func TestLeftovers(t *testing.T) {
	path := newPath(t)
	must(t, openTest(t, path).Close())
	complete := readFile(t, path)
	for _, size := range []int{0, 1, os.Getpagesize(), 3 * os.Getpagesize(), len(complete)} {
		path := newPath(t)
		must(t, os.WriteFile(path+".lock", nil, 0o600))
		must(t, os.WriteFile(path+".new", complete[:size], 0o600))
		mustBeNew(t, path)
	}
}

// If several open a file that doesn't exist yet, one of them gets it. The others
// say so within a second.
func TestOpenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where only the waiting takes time
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
				t.Cleanup(func() { must(t, s.Close()) })
			})
		}
		calls.Wait()
		if n, took := opened.Load(), time.Since(start); n != 1 || took > time.Second {
			t.Errorf("%d stores are open after %v, want 1 after a second", n, took)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("the directory has %v, %v", entries, err)
		}
	})
}

// Open leaves files unchanged that aren't stores, or damaged ones.
func TestOpenRefuses(t *testing.T) {
	good, page := sample(t), os.Getpagesize()
	database := func(fill func(*bbolt.Tx) error) []byte {
		path := newPath(t)
		// Opened for writing, it would get a list of free pages.
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
		must(t, err)
		must(t, errors.Join(db.Update(fill), db.Close()))
		return readFile(t, path)
	}
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"empty":             {nil, "it is damaged: it is empty: restore a backup, or move the file away"},
		"text":              {[]byte("plants: none\n"), "it is damaged: invalid database"},
		"one page":          {good[:page], "it is damaged: file size too small"},
		"half":              {good[:len(good)/2], "bytes instead of"},
		"no valid meta":     {overwrite(good, 0, make([]byte, 2*page)), "it is damaged: invalid database"},
		"only metas intact": {overwrite(good, 2*page, make([]byte, len(good)-2*page)), "it is damaged: assertion failed"},
		"another program's": {database(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket(metaBucket); return err }),
			"of another program: choose another data directory"},
		"no buckets": {database(func(*bbolt.Tx) error { return nil }), "of another program"},
		"a later format": {database(func(tx *bbolt.Tx) error {
			return errors.Join(makeBuckets(tx), tx.Bucket(metaBucket).Put(formatKey, []byte("2")))
		}), `format "2", but this version of the program supports only "1": use the version that wrote it`},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			must(t, os.WriteFile(path, test.file, 0o600))
			_, err := Open(path)
			mustSay(t, err, path, test.want)
			if !bytes.Equal(readFile(t, path), test.file) {
				t.Error("Open changed the file")
			}
		})
	}
}
