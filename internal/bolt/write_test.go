package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// together makes concurrent calls, each a write, and returns their errors. Their changes share a
// transaction, in this order. It must be called in a synctest bubble.
func together(s *Store, calls ...func() error) []error {
	s.writes <- struct{}{} // stands for another write, since a lone one has its own transaction
	defer func() { <-s.writes }()
	s.db.MaxBatchSize, s.db.MaxBatchDelay = len(calls), time.Hour
	errs := make([]error, len(calls))
	var group sync.WaitGroup
	for i, call := range calls {
		group.Go(func() { errs[i] = call() })
		synctest.Wait() // until it waits for the last one
	}
	group.Wait()
	return errs
}

// commits returns the number of commits since the file was created.
func commits(t *testing.T, s *Store) (n int) {
	t.Helper()
	noErr(t, s.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }))
	return n
}

// Concurrent writes share a commit, even if some of them are refused.
func TestWritesShareCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, newPath(t))
		before, created := commits(t, s), 0
		var calls []func() error
		for i := range 64 { // of four creates each, one succeeds
			calls = append(calls, func() error {
				return s.Create(t.Context(), fmt.Sprint("owner ", i), plantstest.Example(int64(i/4)))
			})
		}
		for i, err := range together(s, calls...) {
			if err == nil {
				created++
			} else if !errors.Is(err, plants.ErrInUse) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if n := commits(t, s) - before; n != 1 || created != 16 {
			t.Errorf("%d commits and %d creates, want 1 and 16", n, created)
		}
	})
}

// If a shared commit fails, all its writers get the error, and none of their plants is
// stored. A limit on the file's size simulates a full disk; TestCreateOnFullDisk fills a
// real one.
func TestFailedCommitAnswersAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, newPath(t))
		s.db.MaxSize = 32 << 10
		var calls []func() error
		for i := range 40 { // Two each of one id: the second is refused only if the first is stored.
			p := plantstest.Example(int64(i / 2))
			p.Name = strings.Repeat("\x00", plants.MaxNameLength-i)
			calls = append(calls, func() error { return s.Create(t.Context(), "alice", p) })
		}
		for i, err := range together(s, calls...) {
			if !errors.Is(err, plants.ErrUnwritable) || !strings.Contains(err.Error(), "plants.db") {
				t.Errorf("create %d: %v, want %v and the file's name", i, err, plants.ErrUnwritable)
			}
		}
		if list, _, err := s.List(t.Context(), "alice", nil, 100); err != nil || len(list) > 0 {
			t.Errorf("after a failed commit the list is %v, %v", list, err)
		}
		s.db.MaxSize = 0
		noErr(t, s.Create(t.Context(), "alice", plantstest.Example(1)))
	})
}

// A panic of a write is an error of its call, and ends neither the program nor other writes.
// Those that share its transaction are repeated, and only their last result counts.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, runs := openTest(t, newPath(t)), 0
		panics := func() error { return s.write(t.Context(), func(*bbolt.Tx) error { panic("a fault") }) }
		other := func() error {
			return s.write(t.Context(), func(*bbolt.Tx) error {
				if runs++; runs == 1 {
					return plants.ErrInUse
				}
				return nil
			})
		}
		errs := together(s, other, panics)
		if errs[0] != nil || runs != 2 {
			t.Errorf("the other write: got %v after %d runs, want no error after 2", errs[0], runs)
		}
		for _, err := range []error{errs[1], panics()} {
			if err == nil || !strings.Contains(err.Error(), "panic: a fault") {
				t.Errorf("got %v, want the panic", err)
			}
		}
		noErr(t, s.Create(t.Context(), "alice", plantstest.Example(1)))
	})
}

// While the disk stalls, a call returns when its context ends, lists go on, and writes beyond a
// limit are refused at once. Afterwards, the writes of callers that have gone change nothing.
func TestStalledDisk(t *testing.T) {
	s := openTest(t, newPath(t))
	noErr(t, s.Create(t.Context(), "alice", plantstest.Example(0)))
	before := runtime.NumGoroutine()
	tx, err := s.db.Begin(true) // stands for a commit that doesn't end
	noErr(t, err)
	defer tx.Rollback()

	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var calls sync.WaitGroup
	for i := range int64(1000) {
		calls.Go(func() {
			if err := s.Create(short, "alice", plantstest.Example(i+1)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("create %d: %v, want %v", i+1, err, context.DeadlineExceeded)
			}
		})
	}
	calls.Wait()
	patient, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	if err := s.Delete(patient, "alice", 0); !errors.Is(err, plants.ErrThrottled) {
		t.Errorf("while 1,000 writes are waiting: %v, want %v", err, plants.ErrThrottled)
	}
	if list, _, err := s.List(patient, "alice", nil, 100); err != nil || len(list) != 1 {
		t.Errorf("meanwhile the list is %v, %v", list, err)
	}

	noErr(t, tx.Rollback())
	harness.Await(t, func() error {
		if n := runtime.NumGoroutine() - before; n > 0 {
			return fmt.Errorf("%d goroutines are left", n)
		}
		return nil
	})
	if list, _, err := s.List(patient, "alice", nil, 100); err != nil || len(list) != 1 {
		t.Errorf("afterwards the list is %v, %v", list, err)
	}
	noErr(t, s.Delete(patient, "alice", 0))
	if n := len(s.writes); n != 0 {
		t.Errorf("afterwards %d writes still count towards the limit", n)
	}
}

// A lone write waits for no timer. Each write, even a refused one, returns after a commit:
// after an earlier commit has failed, the plant that causes the refusal may not be on disk.
// So does Open, since a process may have been killed before a sync.
func TestCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in a bubble, only timers take time
		path, start := newPath(t), time.Now()
		s := openTest(t, path)
		noErr(t, s.Create(t.Context(), "alice", plantstest.Example(1)))
		before := commits(t, s)
		noErr(t, s.Close())
		s = openTest(t, path)
		if n := commits(t, s) - before; n != 1 {
			t.Errorf("%d commits when the file is opened, want 1", n)
		}
		other := plantstest.Example(1)
		other.Name = "ivy"
		for name, test := range map[string]struct {
			call func() error
			want error
		}{
			"create again":      {func() error { return s.Create(t.Context(), "alice", plantstest.Example(1)) }, nil},
			"create another":    {func() error { return s.Create(t.Context(), "alice", other) }, plants.ErrExists},
			"create another's":  {func() error { return s.Create(t.Context(), "bob", plantstest.Example(1)) }, plants.ErrInUse},
			"delete another's":  {func() error { return s.Delete(t.Context(), "bob", 1) }, plants.ErrNotFound},
			"delete what isn't": {func() error { return s.Delete(t.Context(), "bob", 2) }, plants.ErrNotFound},
		} {
			before := commits(t, s)
			if err := test.call(); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
			if n := commits(t, s) - before; n != 1 {
				t.Errorf("%s: %d commits, want 1", name, n)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("lone writes took %v of waiting", took)
		}
	})
}
