package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/plantstore/test/harness"
)

// The variables of a process that ends by itself, since [TestMain] calls [use] in it.
const (
	fileVariable = "BOLT_TEST_FILE"
	useVariable  = "BOLT_TEST_USE"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(fileVariable); path != "" {
		os.Exit(use(path, os.Getenv(useVariable)))
	}
	harness.Main(m)
}

// use opens the file at path, does what op says, and closes it. It returns an exit code.
func use(path, op string) (code int) {
	file, err := Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	s, ctx := NewStore(file), context.Background()
	file.db.NoSync = true // for speed
	op, pages, _ := strings.Cut(op, " after ")
	if n, err := strconv.Atoi(pages); err == nil {
		_ = os.Truncate(path, int64(n*os.Getpagesize()))
	}
	bug := func(*bbolt.Tx) (bool, error) { panic("a bug") }
	switch op {
	case "list":
		_, _ = s.List(ctx, "alice", nil, 1000)
	case "write":
		_ = s.Create(ctx, "alice", rose(3000))
		for id := int64(3); id < 100; id += 12 {
			_ = s.Delete(ctx, "alice", id)
		}
	case "bug in a read":
		_ = file.view(func(tx *bbolt.Tx) error { _, err := bug(tx); return err })
	case "bug in a write":
		_ = file.write(ctx, bug)
	}
	_ = file.Close()
	return 0
}

// ends calls [use] in a process of its own, and reports whether that ended early. If so,
// it must say so in a line with the causes, followed by the stack.
func ends(t *testing.T, path, op string, causes ...string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	// By default the race detector waits a second before the process exits.
	cmd.Env = harness.Environ(fileVariable+"="+path, useVariable+"="+op, "GORACE=atexit_sleep_ms=0")
	p, err := harness.Start(cmd)
	noErr(t, err)
	code := p.Wait()
	if code == 0 {
		return false
	}
	line, stack, _ := strings.Cut(p.Stderr.String(), "\n\n")
	if code != 1 || !strings.Contains(stack, "internal/bolt.") {
		t.Fatalf("%s: exit code %d:\n%s", op, code, p.Stderr.String())
	}
	mustSay(t, errors.New(line), append([]string{path, "can't be read, or the program has a fault: ", "start the program again; if that doesn't help, restore a backup"}, causes...)...)
	return true
}

// damagedFile returns the path of a copy of file, with n bytes of garbage at an offset.
func damagedFile(t *testing.T, file []byte, at, n int, garbage byte) string {
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
		list, err := openTest(t, damagedFile(t, good, meta*size, size, 0)).List(t.Context(), "alice", nil, 10)
		if err != nil || len(list) != want {
			t.Errorf("without meta page %d: %v, %v, want %d plants", meta, list, err, want)
		}
	}
}

// Whichever page is overwritten, the call that reads it, even Open, ends the process with
// a message. None hangs.
func TestDamagedPage(t *testing.T) {
	path, size := newPath(t), os.Getpagesize()
	s := openTest(t, path)
	load(t, s, "alice", 0, 100)
	noErr(t, s.Delete(t.Context(), "alice", 40)) // frees pages
	var used int
	noErr(t, s.file.view(func(tx *bbolt.Tx) error { used = int(tx.Size()); return nil }))
	noErr(t, s.file.Close())
	good, ended := readFile(t, path), map[string]int{}
	for at := 2 * size; at < used; at += size {
		for i, garbage := range []struct {
			at, n int
			b     byte
		}{
			{0, size, 0}, {8, size - 8, 0xff}, {16, size - 16, 0xff}, // also keep the page's id, or its header
			{16 + 3*16 + 4, 4, 0x7f}, // the fourth element of a leaf lies beyond the file
		} {
			op := []string{"list", "write"}[i%2]
			if ends(t, damagedFile(t, good, at+garbage.at, garbage.n, garbage.b), op) {
				ended[op]++
			}
		}
	}
	// The other pages are free.
	if ended["list"] < 5 || ended["write"] < 5 {
		t.Errorf("damage was noticed this often: %v", ended)
	}
}

// The file shrinks while it is open, as when someone copies another over it.
func TestDamageWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows truncates no mapped file")
	}
	for _, op := range []string{"list after 0", "write after 0", "list after 2", "write after 2"} { // pages that are left
		path := newPath(t)
		s := openTest(t, path)
		load(t, s, "alice", 0, 100)
		noErr(t, s.file.Close())
		if !ends(t, path, op, "invalid memory address") {
			t.Errorf("%s: no call noticed the damage", op)
		}
	}
}

// Any other panic within a transaction ends the process too: bbolt keeps its locks.
func TestBug(t *testing.T) {
	for _, op := range []string{"bug in a read", "bug in a write"} {
		if !ends(t, newPath(t), op, "a bug") {
			t.Errorf("after a %s the process goes on", op)
		}
	}
}
