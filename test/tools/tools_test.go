package tools

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
			dir, err := Dir("tools", nil, func(dir string) error {
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
	_, err := Dir("tools", nil, func(dir string) error { partial = dir; return broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if err := os.MkdirAll(filepath.Join(partial, "half"), 0o700); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	dir, err := Dir("tools", nil, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("the second attempt found files of the first: %v, %v", entries, err)
	}
	if other, err := Dir("tools", []byte("new"), func(string) error { return nil }); other == dir || err != nil {
		t.Errorf("another recipe: %s, %v", other, err)
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

// The terminal gets a line without the reason, once.
func TestMissingIsSaidOnce(t *testing.T) {
	defer func(b bool, f func(string)) { isChild, tellTerminal = b, f }(isChild, tellTerminal)
	var said []string
	isChild, tellTerminal = false, func(line string) { said = append(said, line) }
	t.Setenv("CI", "")
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", t.TempDir()) // on Windows
	for range 2 {
		func() {
			defer func() { recover() }()
			Missing(&recorder{TB: t}, fmt.Errorf("no engine: install it: %w", errors.New("exit status 1")))
		}()
	}
	if want := []string{"TESTS SKIPPED: no engine: install it"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

func TestPatience(t *testing.T) {
	before := flag.Lookup("test.timeout").Value.String()
	defer flag.Set("test.timeout", before)
	for limit, want := range map[time.Duration]time.Duration{0: 24 * time.Hour, time.Hour: 40 * time.Minute, 1: time.Second} {
		flag.Set("test.timeout", limit.String())
		if got := Patience(); got > want || got < want/2 {
			t.Errorf("-timeout %v: %v, want %v", limit, got, want)
		}
	}
}

// Await ends with the last error when the time is over.
func TestAwait(t *testing.T) {
	calls := 0
	Await(t, func() error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	before := flag.Lookup("test.timeout").Value.String()
	defer flag.Set("test.timeout", before)
	flag.Set("test.timeout", "1ns")
	r := &recorder{TB: t}
	defer func() {
		if recover(); r.outcome != "failed" || calls != 3 {
			t.Errorf("the test %s after %d calls", r.outcome, calls)
		}
	}()
	Await(r, func() error { return errors.New("never") })
}

func TestRun(t *testing.T) {
	if out, err := Run("go", "env", "GOOS"); strings.TrimSpace(out) != runtime.GOOS || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := Run("no-such-command"); err == nil || err.Error() != "no-such-command is not installed" {
		t.Errorf("error %v", err)
	}
	if _, err := Run("go", "no-such-command"); err == nil || !strings.Contains(err.Error(), "go no-such-command: exit status 2: go no-such-command: unknown command") {
		t.Errorf("error %v", err)
	}
}

func TestNoPython(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Python("x", nil); err == nil || !strings.Contains(err.Error(), "python3 is not installed") {
		t.Errorf("error %v", err)
	}
}
