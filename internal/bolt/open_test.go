package bolt

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// holdVariable tells the test's program to hold the store of that name open.
const holdVariable = "BOLT_TEST_HOLD"

func hold(path string) {
	s, err := Open(path)
	fmt.Println(err) // says that it is open
	if err == nil {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test closes it
		err = s.Close()
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func TestSecondProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	other := exec.CommandContext(t.Context(), exe)
	other.Env = append(os.Environ(), holdVariable+"="+path)
	stop, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the other process: %q, %v", line, err)
	}
	mustRefuseInTime(t, path)
	if err := stop.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	create(t, openTest(t, path), "alice", plants.Plant{ID: 1, Name: "rose"})
}

// mustRefuseInTime fails the test unless Open says within a second that
// somebody has the file.
func mustRefuseInTime(t *testing.T, path string) {
	t.Helper()
	start := time.Now()
	_, err := Open(path)
	if took := time.Since(start); took > time.Second {
		t.Errorf("Open took %v", took)
	}
	mustSay(t, err, path, "another process has it open", "stop that one")
}

// mustSay fails the test unless err is one line with all parts.
func mustSay(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Count(err.Error(), parts[0]) > 1 {
		t.Errorf("error %q says %q twice", err, parts[0])
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has several lines", err)
	}
}

func TestSecondStoreOfOneProcess(t *testing.T) {
	path := newPath(t)
	s := openTest(t, path)
	mustRefuseInTime(t, path)
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"}) // it is unharmed
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, openTest(t, path), "alice"); got != "1 rose" {
		t.Errorf("alice has %q", got)
	}
}

// Of several that open a file that doesn't exist yet, one gets it.
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
		return // which has no such modes
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
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	openTest(t, "plants.db")
	if _, err := os.Stat("plants.db"); err != nil {
		t.Error(err)
	}
}

func TestEmptyFileIsNew(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create(t, openTest(t, path), "alice", plants.Plant{ID: 1, Name: "rose"})
}

// A process that ends right after bbolt made the file leaves one without
// buckets.
func TestDatabaseWithoutBucketsIsNew(t *testing.T) {
	path := newPath(t)
	change(t, path, func(*bbolt.Tx) error { return nil })
	create(t, openTest(t, path), "alice", plants.Plant{ID: 1, Name: "rose"})
}

// change writes to the file at path behind the store's back.
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
	tests := []struct {
		title string
		make  func(*bbolt.Tx) error
		want  []string
	}{
		{"another program's", func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("users"))
			return err
		}, []string{"not one of plants", "choose another data folder"}},
		{"another program's meta", func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(metaBucket)
			return err
		}, []string{"not one of plants"}},
		{"a later format", func(tx *bbolt.Tx) error {
			if err := makeBuckets(tx); err != nil {
				return err
			}
			return tx.Bucket(metaBucket).Put(formatKey, []byte("2"))
		}, []string{`format "2"`, `only "1"`, "use the version of the program that wrote it"}},
		{"no ids", func(tx *bbolt.Tx) error {
			if err := makeBuckets(tx); err != nil {
				return err
			}
			return tx.DeleteBucket(idsBucket)
		}, []string{"a bucket is missing", "damaged"}},
		{"no plants", func(tx *bbolt.Tx) error {
			if err := makeBuckets(tx); err != nil {
				return err
			}
			return tx.DeleteBucket(plantsBucket)
		}, []string{"a bucket is missing", "damaged"}},
	}
	for _, test := range tests {
		t.Run(test.title, func(t *testing.T) {
			path := newPath(t)
			change(t, path, test.make)
			mustLeave(t, path, append(test.want, path)...)
		})
	}
}

// mustLeave fails the test unless Open refuses the file at path, says all parts,
// and leaves it as it is.
func mustLeave(t *testing.T, path string, parts ...string) {
	t.Helper()
	before, info := snapshot(t, path)
	_, err := Open(path)
	mustSay(t, err, parts...)
	after, infoAfter := snapshot(t, path)
	if before != after || !info.ModTime().Equal(infoAfter.ModTime()) || info.Mode() != infoAfter.Mode() {
		t.Error("the file has changed")
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
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "plants.db")
	_, err = Open(below)
	mustSay(t, err, below)
}
