package tools

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestDirIsFilledOnce(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "not", "there", "yet")
	var fills atomic.Int32
	fill := func(dir string) error {
		fills.Add(1)
		time.Sleep(100 * time.Millisecond) // the others come meanwhile
		return os.WriteFile(filepath.Join(dir, "tool"), []byte("whole"), 0o600)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			dir, err := dirIn(parent, "tools", time.Minute, fill)
			if err != nil {
				t.Error(err)
				return
			}
			if b, err := os.ReadFile(filepath.Join(dir, "tool")); string(b) != "whole" {
				t.Errorf("a folder was returned before it was complete: %q, %v", b, err)
			}
		})
	}
	wg.Wait()
	if n := fills.Load(); n != 1 {
		t.Errorf("filled %d times, want once", n)
	}
}

func TestDirFailsAndIsTriedAgain(t *testing.T) {
	parent := t.TempDir()
	broken := errors.New("no network")
	_, err := dirIn(parent, "tools", time.Minute, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "half"), nil, 0o600); err != nil {
			t.Error(err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if _, err := os.Stat(filepath.Join(parent, "tools")); err == nil {
		t.Error("the folder is there although filling it failed")
	}

	dir, err := dirIn(parent, "tools", time.Minute, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("the second try found the rest of the first: %v, %v", entries, err)
	}
}

func TestDirAfterAKilledProcess(t *testing.T) {
	parent := t.TempDir()
	rest := filepath.Join(parent, "tools.partial", "half")
	if err := os.MkdirAll(rest, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := dirIn(parent, "tools", time.Minute, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "half")); err == nil {
		t.Error("the folder has what a killed process left behind")
	}
}

func TestLockTimesOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(file, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(file, 10*time.Millisecond); !errors.Is(err, errLocked) {
		t.Errorf("second lock: error %v, want %v", err, errLocked)
	}
	unlock()
	unlock, err = lock(file, 0)
	if err != nil {
		t.Fatalf("after unlocking: %v", err)
	}
	unlock()
}

// recorder stands for a test that Missing ends. Fatal and Skip leave by a panic,
// since they must not return.
type recorder struct {
	testing.TB
	outcome string
}

func (r *recorder) Helper()      {}
func (r *recorder) Fatal(...any) { r.outcome = "failed"; panic(r) }
func (r *recorder) Skip(...any)  { r.outcome = "skipped"; panic(r) }

func TestMissing(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped", "false": "skipped", "true": "failed", "1": "failed"} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Setenv("CI", ci)
			toldAlready.Store("no such tool", true) // not on the terminal of who runs this test
			r := &recorder{TB: t}
			func() {
				defer func() {
					if v := recover(); v != r {
						t.Errorf("recovered %v", v)
					}
				}()
				Missing(r, errors.New("no such tool"))
			}()
			if r.outcome != want {
				t.Errorf("the test %s, want %s", r.outcome, want)
			}
		})
	}
}
