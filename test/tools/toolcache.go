// Package toolcache keeps what tests bring for themselves: programs that are got
// once, in the user's cache folder, and not once for every run.
package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Dir returns the folder of that name in the user's cache, which fill fills the
// first time, as often as it takes until it once succeeds. The name should
// change with what fill puts there.
//
// The folder is there only when it is complete. Processes that need it at the
// same time wait for the one that fills it, up to timeout. Fill is given another
// folder, which is then renamed: what it makes there must not know its own path.
func Dir(name string, timeout time.Duration, fill func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return dirIn(filepath.Join(cache, "plantstore-test"), name, timeout, fill)
}

func dirIn(parent, name string, timeout time.Duration, fill func(dir string) error) (string, error) {
	final := filepath.Join(parent, name)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(final+".lock", timeout)
	if err != nil {
		return "", err
	}
	defer unlock()

	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		return final, err // filled while we waited
	}
	partial := final + ".partial"
	if err := os.RemoveAll(partial); err != nil { // of a process that was killed
		return "", err
	}
	defer os.RemoveAll(partial)
	if err := os.Mkdir(partial, 0o700); err != nil {
		return "", err
	}
	if err := fill(partial); err != nil {
		return "", err
	}
	return final, os.Rename(partial, final)
}

var errLocked = errors.New("another process has the lock")

// lock waits until no other process holds the lock of that file. The lock ends
// with the process at the latest.
func lock(file string, timeout time.Duration) (unlock func(), err error) {
	deadline := time.Now().Add(timeout)
	for {
		unlock, err := tryLock(file)
		if err != errLocked {
			return unlock, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Missing ends a test that needs a tool which can't be had, for the reason in
// err. The test is skipped, and a line on the terminal says so even where go
// test hides what passing tests print. With CI=true it fails instead.
func Missing(t testing.TB, err error) {
	t.Helper()
	if ci, _ := strconv.ParseBool(os.Getenv("CI")); ci {
		t.Fatal(err)
	}
	if _, told := toldAlready.LoadOrStore(err.Error(), true); !told {
		tellTerminal("TESTS SKIPPED: " + err.Error())
	}
	t.Skip(err)
}

var toldAlready sync.Map

// tellTerminal writes a line to the terminal that the tests were started from,
// if there is one, past whatever collects their output.
func tellTerminal(line string) {
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONOUT$"
	}
	tty, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer tty.Close()
	fmt.Fprintln(tty, line)
}
