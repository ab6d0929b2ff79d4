package bolt

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/harness"
)

// together makes n concurrent calls, each of which is a write, and returns their
// errors. They all wait for the next commit.
func together(t *testing.T, f *File, n int, call func(i int) error) []error {
	t.Helper()
	errs := make([]error, n)
	var calls sync.WaitGroup
	f.committing.Lock() // stands for a commit in progress
	for i := range n {
		calls.Go(func() { errs[i] = call(i) })
		harness.Await(t, func() error {
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.waiting) <= i {
				return fmt.Errorf("%d writes are waiting, want %d", len(f.waiting), i+1)
			}
			return nil
		})
	}
	f.committing.Unlock()
	calls.Wait()
	return errs
}

// commits returns the number of commits since the file was created.
func commits(t *testing.T, f *File) (n int) {
	t.Helper()
	noErr(t, f.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }))
	return n
}

// Concurrent writes share a commit, even if some of them fail.
func TestWritesShareCommits(t *testing.T) {
	s := openTest(t, newPath(t))
	before, created := commits(t, s.file), 0
	for i, err := range together(t, s.file, 64, func(i int) error {
		// Of four creates each, one succeeds.
		p := rose(int64(i / 4))
		p.Name = fmt.Sprint(i)
		return s.Create(t.Context(), "alice", p)
	}) {
		if err == nil {
			created++
		} else if !errors.Is(err, plants.ErrExists) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if n := commits(t, s.file) - before; n != 1 || created != 16 {
		t.Errorf("%d commits and %d creates, want 1 and 16", n, created)
	}
}

// If a shared commit fails, all its writers get the error. A limit of the file's
// size simulates a full disk; package e2e fills a real one.
func TestFailedCommitAnswersAll(t *testing.T) {
	s := openTest(t, newPath(t))
	s.file.db.MaxSize = 32 << 10
	for i, err := range together(t, s.file, 40, func(i int) error {
		// Two each of one id: the second finds the first only if that is stored.
		p := rose(int64(i / 2))
		p.Name = strings.Repeat(string(rune(i%2)), plants.MaxNameLength)
		return s.Create(t.Context(), "alice", p)
	}) {
		if !errors.Is(err, plants.ErrUnwritable) || !strings.Contains(err.Error(), "plants.db") {
			t.Errorf("create %d: %v, want %v and the file's name", i, err, plants.ErrUnwritable)
		}
	}
	s.file.db.MaxSize = 0
	// The failed commit may be visible without being on disk. So a result that
	// depends on it needs a commit, but only one.
	before := commits(t, s.file)
	for range 2 {
		if err := s.Delete(t.Context(), "bob", 1); !errors.Is(err, plants.ErrNotFound) {
			t.Error(err)
		}
	}
	if n := commits(t, s.file) - before; n != 1 {
		t.Errorf("%d commits after a failed one, want 1", n)
	}
}

// A lone write waits for no timer. Calls that change nothing don't commit: what they
// depend on is on disk since Open, even if a killed process had not synced it.
func TestCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where only timers take time
		path, start := newPath(t), time.Now()
		s := openTest(t, path)
		noErr(t, s.Create(t.Context(), "alice", rose(1)))
		before := commits(t, s.file)
		noErr(t, s.file.Close())
		s = openTest(t, path)
		if n := commits(t, s.file) - before; n != 1 {
			t.Errorf("%d commits when the file is opened, want 1", n)
		}
		other := rose(1)
		other.Name = "ivy"
		for i, test := range []struct{ got, want error }{
			{s.Create(t.Context(), "alice", rose(1)), nil},
			{s.Create(t.Context(), "alice", other), plants.ErrExists},
			{s.Create(t.Context(), "bob", rose(1)), plants.ErrInUse},
			{s.Delete(t.Context(), "bob", 1), plants.ErrNotFound},
		} {
			if !errors.Is(test.got, test.want) {
				t.Errorf("call %d: %v, want %v", i, test.got, test.want)
			}
		}
		if n, took := commits(t, s.file)-before, time.Since(start); n != 1 || took > 0 {
			t.Errorf("%d commits for nothing, in %v", n-1, took)
		}
	})
}
