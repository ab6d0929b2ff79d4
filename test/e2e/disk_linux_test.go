package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/plantstore/test/program"
)

// mount returns a folder that is a small file system of its own. Only root can
// have one.
func mount(t *testing.T, size string, flags uintptr) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, "size="+size); err != nil {
		if ci, _ := strconv.ParseBool(os.Getenv("CI")); ci {
			t.Fatalf("no file system can be mounted, which CI must be able to: %v", err)
		}
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillUp fills the file system of dir with a file.
func fillUp(t *testing.T, dir string) (file string) {
	t.Helper()
	file = filepath.Join(dir, "filler")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(chunk)
	}
	return file
}

// While the disk is full nothing can be created, and who tries is told to try
// later. What is there stays readable, and once there is room all is well.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := mount(t, "4m", 0)
	p := start(t, program.Environ(), dir)
	c, token := newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"})
	var acknowledged int
	post := func() answer {
		t.Helper()
		id := randomID()
		a, err := create(t, c, token, plant{ID: &id, Name: strings.Repeat("basil ", 40)})
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 {
			acknowledged++
		}
		return a
	}
	for range 10 {
		if a := post(); a.status != 200 {
			t.Fatal(a)
		}
	}
	filler := fillUp(t, dir)
	a := post()
	for a.status == 200 { // there may be room left within the file
		a = post()
	}
	for range 3 {
		if a.status != 503 || !strings.Contains(string(a.body), `"error":50300,`) {
			t.Errorf("on a full disk the answer is\n%s", a)
		}
		a = post()
	}
	if plants := list(t, c, "alice"); len(plants) != acknowledged {
		t.Errorf("%d plants on a full disk, want %d", len(plants), acknowledged)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if a := post(); a.status != 200 {
			t.Fatalf("with room again the answer is\n%s", a)
		}
	}
	p.Stop(t)
	again := start(t, program.Environ(), dir)
	if plants := list(t, newClient(again.target()), "alice"); len(plants) != acknowledged {
		t.Errorf("after a restart there are %d plants, want %d", len(plants), acknowledged)
	}
	again.Stop(t) // or the file system is in use
}

// A disk without room for the first few pages of the file is no disk to start
// on; but what is left behind then must not keep the program from starting later.
func TestFullDiskAtStart(t *testing.T) {
	t.Parallel()
	dir := mount(t, "1m", 0)
	for room := range int64(4) {
		data := filepath.Join(dir, fmt.Sprint(room, " pages"))
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		filler := fillUp(t, dir)
		info, err := os.Stat(filler)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filler, info.Size()-room*int64(os.Getpagesize())); err != nil {
			t.Fatal(err)
		}
		refuses(t, program.Environ(), data, nil, data, "no space left")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		p := start(t, program.Environ(), data)
		list(t, newClient(p.target()), "alice")
		p.Stop(t)
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
	}
}

// Even root can't write to a file system that is mounted for reading, whether
// there is data already or not.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	dir := mount(t, "4m", 0)
	data := filepath.Join(dir, "data")
	p := start(t, program.Environ(), data)
	p.Stop(t)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{data, filepath.Join(dir, "new")} {
		refuses(t, program.Environ(), data, nil, data, "read-only file system")
	}
}
