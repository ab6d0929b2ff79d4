package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestBuffer(t *testing.T) {
	var b Buffer
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				fmt.Fprint(&b, "ab")
			}
		})
	}
	var taken strings.Builder
	for range 50 {
		taken.WriteString(b.Take())
	}
	group.Wait()
	taken.WriteString(b.String())
	if got := taken.String(); got != strings.Repeat("ab", 800) {
		t.Errorf("%d bytes came out, want all 1600 in order", len(got))
	}
}

// setCache makes a new folder the user's cache, on each operating system.
func setCache(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
}

func TestDirIsFilledOnce(t *testing.T) {
	setCache(t)
	var fills atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			dir, err := Dir("tools", time.Minute, func(dir string) error {
				fills.Add(1)
				time.Sleep(50 * time.Millisecond) // while the others wait
				return os.WriteFile(filepath.Join(dir, "tool"), []byte("whole"), 0o600)
			})
			if b, readErr := os.ReadFile(filepath.Join(dir, "tool")); string(b) != "whole" {
				t.Errorf("Dir returned an incomplete folder: %q, %v", b, errors.Join(err, readErr))
			}
		})
	}
	group.Wait()
	if n := fills.Load(); n != 1 {
		t.Errorf("filled %d times, want once", n)
	}
}

func TestDirAfterFailure(t *testing.T) {
	setCache(t)
	broken := errors.New("no network")
	var partial string
	_, err := Dir("tools", time.Minute, func(dir string) error { partial = dir; return broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if err := os.MkdirAll(filepath.Join(partial, "half"), 0o700); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	dir, err := Dir("tools", time.Minute, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("the second attempt found files of the first: %v, %v", entries, err)
	}
}

// recorder is a test that Missing ends. Fatal and Skip must not return, so they
// panic.
type recorder struct {
	testing.TB
	outcome string
}

func (r *recorder) Helper()      {}
func (r *recorder) Fatal(...any) { r.outcome = "failed"; panic(r) }
func (r *recorder) Skip(...any)  { r.outcome = "skipped"; panic(r) }

func TestMissing(t *testing.T) {
	defer func(b bool) { isChild = b }(isChild)
	isChild = true // say nothing on the terminal
	for ci, want := range map[string]string{"": "skipped", "false": "skipped", "true": "failed", "1": "failed"} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Setenv("CI", ci)
			r := &recorder{TB: t}
			defer func() {
				if recover(); r.outcome != want {
					t.Errorf("the test %s, want %s", r.outcome, want)
				}
			}()
			Need(r, "no-such-command")
		})
	}
}

func TestOneLine(t *testing.T) {
	if got := OneLine(errors.New("first\n\tsecond")); got != "first second" {
		t.Errorf("got %q", got)
	}
	got := OneLine(errors.New("begin " + strings.Repeat("x", 5000) + " end"))
	if len(got) > 620 || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end") {
		t.Errorf("a long error became %q", got)
	}
}
