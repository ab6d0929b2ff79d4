package bolt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// If there is no space for a new file, Open returns an error. Once there is, it succeeds.
func TestOpenOnFullDisk(t *testing.T) {
	dir := mount(t, "tmpfs", "size=1m")
	path := filepath.Join(dir, "plants.db")
	for room := range int64(4) { // pages
		filler := fill(t, dir)
		info, err := os.Stat(filler)
		noErr(t, err)
		noErr(t, os.Truncate(filler, info.Size()-room*int64(os.Getpagesize())))
		mustSay(t, openClose(path), path, "no space left", "free some disk space")
		noErr(t, os.Remove(filler))
		noErr(t, openClose(path))
		noErr(t, os.Remove(path))
	}
}

// While the disk is full, creates say so, and the store can be read. They succeed once there
// is room, without a restart, and no plant is lost. Only a real full disk shows what bbolt
// makes of it.
func TestCreateOnFullDisk(t *testing.T) {
	dir := mount(t, "tmpfs", "size=1m")
	path := filepath.Join(dir, "plants.db")
	s := openTest(t, path)
	noErr(t, s.Create(t.Context(), "alice", plantstest.Example(0)))
	filler := fill(t, dir)
	created := append([]int64{0}, createUntilRefused(t, s)...)
	expectIDs(t, s, created)
	noErr(t, os.Remove(filler))
	for id := range int64(100) {
		noErr(t, s.Create(t.Context(), "alice", plantstest.Example(2000+id)))
		created = append(created, 2000+id)
	}
	if len(s.Lost()) > 0 {
		t.Error("the store says that it is lost")
	}
	noErr(t, s.Close())
	s = openTest(t, path)
	expectIDs(t, s, created)
}

// If the system refuses a larger memory map, the store says that it is lost. A new one has all plants.
func TestLost(t *testing.T) {
	path := newPath(t)
	s := openTest(t, path)
	s.db.MmapFlags = syscall.MAP_HUGETLB // which is refused for usual files
	created := createUntilRefused(t, s)
	select {
	case err := <-s.Lost():
		mustSay(t, err, path, "can't be mapped to memory: mmap allocate error: invalid argument: start the program again")
	case <-time.After(harness.Patience):
		t.Error("the store doesn't say that it is lost")
	}
	noErr(t, s.Close())
	expectIDs(t, openTest(t, path), created)
}

// createUntilRefused creates plants of alice until the file can't be written, and returns their ids.
func createUntilRefused(t *testing.T, s *Store) (created []int64) {
	t.Helper()
	for id := range int64(1000) {
		p := plantstest.Example(1 + id)
		p.Name = strings.Repeat("\x01", plants.MaxNameLength)
		if err := s.Create(t.Context(), "alice", p); errors.Is(err, plants.ErrUnwritable) {
			return created
		} else if err != nil {
			t.Fatalf("create: %v, want %v", err, plants.ErrUnwritable)
		}
		created = append(created, p.ID)
	}
	t.Fatal("the file can be written")
	return nil
}

// A shared folder of a virtual machine, or a network disk, may only say "invalid argument". So does this file system.
func TestOpenWithoutMaps(t *testing.T) {
	path := filepath.Join(mount(t, "hugetlbfs", ""), "plants.db")
	mustSay(t, openClose(path), path, "invalid argument: the file system may not support locks or memory maps")
}

// mount mounts a file system of a kind until the test ends.
func mount(t *testing.T, kind, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount(kind, dir, kind, 0, options); err != nil {
		harness.Missing(t, fmt.Errorf("no %s: run the tests as root: %w", kind, err))
	}
	t.Cleanup(func() { noErr(t, syscall.Unmount(dir, 0)) })
	return dir
}

// fill fills the disk with a file.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) { // as much as fits
		t.Fatalf("the disk isn't full: %v", err)
	}
	return filler
}

// expectIDs checks the ids of alice's plants.
func expectIDs(t *testing.T, s *Store, want []int64) {
	t.Helper()
	list, _, err := s.List(t.Context(), "alice", nil, math.MaxInt32)
	noErr(t, err)
	got := []int64{}
	for _, p := range list {
		got = append(got, p.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list has the ids %v, want %v", got, want)
	}
}

func TestOpenWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		noErr(t, syscall.Setfsuid(65534))
	}
	const path = "/plants.db"
	mustSay(t, openClose(path), path, "permission denied: let this user read and write the file and its directory")
}

// When Create returns, the plant is on disk.
func TestSync(t *testing.T) {
	const variable = "BOLT_TEST_SYNC" // set in the process that is watched
	if path := os.Getenv(variable); path != "" {
		s := openTest(t, path)
		noErr(t, os.Link(path, path+".opened")) // shows which calls are those of Create
		noErr(t, s.Create(t.Context(), "alice", plantstest.Example(1)))
		return
	}
	path := newPath(t)
	got := harness.Syncs(t, "TestSync", variable+"="+path)
	if i := slices.Index(got, "name "+path+".opened"); i < 0 || !slices.Contains(got[i:], "sync "+path) {
		t.Errorf("after Open there is no sync among the calls\n%q", got)
	}
}

// A page that can't be read, here because the open file was cut off, is an error of the calls that need it.
// It ends neither the program nor the calls for other plants.
func TestUnreadablePage(t *testing.T) {
	s := openTest(t, newPath(t))
	const n = 1000
	update := func(do func(plants *bbolt.Bucket, id int64) error) {
		noErr(t, s.db.Update(func(tx *bbolt.Tx) error {
			for id := range int64(n) {
				noErr(t, do(tx.Bucket(plantBucket), id))
			}
			return nil
		}))
	}
	// Zoe's plants are the last pages of the file. Bob's make room in front of them for all other pages.
	for _, owner := range []string{"bob", "zoe"} {
		update(func(plants *bbolt.Bucket, id int64) error {
			return plants.Put(appendID(ownerPrefix(owner), id), []byte(`{"name":"fern"}`))
		})
	}
	update(func(plants *bbolt.Bucket, id int64) error { return plants.Delete(appendID(ownerPrefix("bob"), id)) })
	noErr(t, s.Create(t.Context(), "alice", plantstest.Example(n)))
	var last int64
	noErr(t, s.db.View(func(tx *bbolt.Tx) error {
		size := int64(s.db.Info().PageSize)
		for id := range tx.Size() / size {
			if page, err := tx.Page(int(id)); err == nil && page.Type == "leaf" {
				last = id * size
			}
		}
		return nil
	}))
	noErr(t, os.Truncate(s.path, last))
	want := "the data file " + s.path + ": a page can't be read: check the disk"
	_, _, err := s.List(t.Context(), "zoe", nil, 2*n)
	mustSay(t, err, want)
	failed := 0
	for id := int64(0); id < n; id += 20 { // at least one in each page
		if err := s.Create(t.Context(), "zoe", plantstest.Example(id)); err != nil && !errors.Is(err, plants.ErrExists) {
			mustSay(t, err, want)
			failed++
		}
		noErr(t, s.Create(t.Context(), "alice", plantstest.Example(-1-id)))
	}
	if failed == 0 {
		t.Error("no create needed the page")
	}
	list, _, err := s.List(t.Context(), "alice", nil, n)
	if len(list) != n/20+1 || err != nil {
		t.Errorf("alice has %d plants, %v, want %d", len(list), err, n/20+1)
	}
}
