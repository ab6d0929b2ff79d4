package bolt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/tools"
)

// awaitQueue waits until commitAll is running or not, with that many writes waiting.
func awaitQueue(t *testing.T, s *Store, committing bool, waiting int64) {
	t.Helper()
	tools.Await(t, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := int64(len(s.waiting)); s.committing != committing || n != waiting {
			return fmt.Errorf("committing %t with %d writes waiting, want %t with %d", s.committing, n, committing, waiting)
		}
		return nil
	})
}

// together makes n concurrent calls, each of which is a write, and returns their
// errors. The first write has a commit of its own, all others share the next.
func together(t *testing.T, s *Store, n int64, call func(i int64) error) []error {
	t.Helper()
	awaitQueue(t, s, false, 0)  // an earlier write is answered before its commitAll ends
	tx, err := s.db.Begin(true) // commits wait for this transaction
	must(t, err)
	errs := make([]error, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { errs[i] = call(i) })
		awaitQueue(t, s, true, i)
	}
	must(t, tx.Rollback())
	calls.Wait()
	return errs
}

// commits returns the number of commits since the file was created.
func commits(t *testing.T, s *Store) (n int) {
	t.Helper()
	must(t, s.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }))
	return n
}

// A lone write waits for no timer: in a synctest bubble, only timers take time.
func TestLoneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, newPath(t))
		start := time.Now()
		create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// Concurrent writes share a commit, even if some of them fail.
func TestWritesShareCommits(t *testing.T) {
	s := openTest(t, newPath(t))
	before := commits(t, s)
	created := 0
	for i, err := range together(t, s, 64, func(i int64) error {
		// Of four creates each, one succeeds.
		return s.Create(t.Context(), "alice", plants.Plant{ID: i / 4, Name: "x"}, plants.NewIdempotencyKey())
	}) {
		if err == nil {
			created++
		} else if !errors.Is(err, plants.ErrInUse) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if n := commits(t, s) - before; n != 2 || created != 16 || strings.Count(list(t, s, "alice"), "x") != 16 {
		t.Errorf("%d commits and %d creates, want 2 and 16; alice has %s", n, created, list(t, s, "alice"))
	}
}

// If a shared commit fails, all its writers get the error. A limit of the file's
// size simulates a full disk; package e2e fills a real one.
func TestFailedCommitAnswersAll(t *testing.T) {
	s := openTest(t, newPath(t))
	s.db.MaxSize = 32 << 10
	for i, err := range together(t, s, 41, func(i int64) error {
		// Two each of one id: the second is in use only if the first is stored.
		long := strings.Repeat("\x00", plants.MaxNameLength)
		return s.Create(t.Context(), "alice", plants.Plant{ID: (i + 1) / 2, Name: long}, plants.NewIdempotencyKey())
	}) {
		if i > 0 && (!errors.Is(err, plants.ErrUnwritable) || !strings.Contains(err.Error(), "plants.db")) {
			t.Errorf("create %d: %v, want %v and the file's name", i, err, plants.ErrUnwritable)
		}
	}
	s.db.MaxSize = 0
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
}

// Calls that change nothing neither commit nor wait for a commit in progress.
func TestNothingToCommit(t *testing.T) {
	s := openTest(t, newPath(t))
	p, key := plants.Plant{ID: 1, Name: "rose"}, plants.NewIdempotencyKey()
	must(t, s.Create(t.Context(), "alice", p, key))
	before := commits(t, s)
	tx, err := s.db.Begin(true) // commits wait for this transaction
	must(t, err)
	defer tx.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for i, test := range []struct{ got, want error }{
		{s.Create(ctx, "alice", p, key), nil},
		{s.Create(ctx, "alice", plants.Plant{ID: 1, Name: "ivy"}, key), plants.ErrKeyReused},
		{s.Create(ctx, "bob", p, key), plants.ErrInUse},
		{s.Delete(ctx, "bob", 1), plants.ErrNotFound},
	} {
		if !errors.Is(test.got, test.want) {
			t.Errorf("call %d: %v, want %v", i, test.got, test.want)
		}
	}
	if n := commits(t, s); n != before {
		t.Errorf("%d commits for nothing", n-before)
	}
}

// An answer waits until everything it depends on is on disk: what an earlier
// process wrote, which may have been killed before its sync, and what a commit in
// progress has written, which costs no further commit.
func TestAnswersAreDurable(t *testing.T) {
	path := newPath(t)
	must(t, openTest(t, path).Close())
	s := openTest(t, path)
	before := commits(t, s)
	deleteNothing := func() {
		if err := s.Delete(t.Context(), "alice", 1); !errors.Is(err, plants.ErrNotFound) {
			t.Error(err)
		}
	}
	deleteNothing()
	deleteNothing()
	if n := commits(t, s) - before; n != 1 {
		t.Fatalf("%d commits after the file was opened, want 1", n)
	}
	last := s.durable.Swap(0)
	tx, err := s.db.Begin(true) // stands for a commit in progress
	must(t, err)
	var call sync.WaitGroup
	call.Go(deleteNothing)
	awaitQueue(t, s, true, 0)
	s.durable.Store(last)
	must(t, tx.Rollback())
	call.Wait()
	if n := commits(t, s) - before; n != 1 {
		t.Errorf("%d commits, want 1", n)
	}
}
