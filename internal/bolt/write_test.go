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
	"example.com/plantstore/test/tools"
)

// together makes n concurrent calls, each of which is a write, and returns their
// errors. The first write has a commit of its own, all others share the next.
func together(t *testing.T, s *Store, n int64, call func(i int64) error) []error {
	t.Helper()
	await := func(active bool, waiting int64) {
		t.Helper()
		tools.Await(t, func() error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if n := int64(len(s.waiting)); s.active != active || n != waiting {
				return fmt.Errorf("active %t with %d writes waiting, want %t with %d", s.active, n, active, waiting)
			}
			return nil
		})
	}
	await(false, 0)             // an earlier write is answered before its commitAll ends
	tx, err := s.db.Begin(true) // commits wait for this transaction
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { errs[i] = call(i) })
		await(true, i)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	return errs
}

// commits returns the number of commits since the file was created.
func commits(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
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
	broken := errors.New("broken")
	created := 0
	for i, err := range together(t, s, 65, func(i int64) error {
		if i == 64 {
			return s.write(t.Context(), func(*bbolt.Tx) (bool, error) { return false, nil },
				func(tx *bbolt.Tx) error { _ = tx.DeleteBucket(plantsBucket); return broken })
		}
		// Of four creates each, one succeeds.
		return s.Create(t.Context(), "alice", plants.Plant{ID: i / 4, Name: "x"}, plants.NewIdempotencyKey())
	}) {
		switch {
		case err == nil:
			created++
		case i == 64 && errors.Is(err, broken):
		case !errors.Is(err, plants.ErrInUse):
			t.Errorf("call %d: %v", i, err)
		}
	}
	if created != 16 {
		t.Errorf("%d creates succeeded, want 16", created)
	}
	if n := commits(t, s) - before; n > 2 {
		t.Errorf("%d commits, want at most 2", n)
	}
	if page, err := s.List(t.Context(), "alice", plants.Query{Limit: 100}); len(page.Plants) != 16 {
		t.Errorf("%d plants, %v", len(page.Plants), err)
	}
}

// Calls that change nothing neither commit nor wait for a commit in progress.
func TestNothingToCommit(t *testing.T) {
	s := openTest(t, newPath(t))
	p, token := plants.Plant{ID: 1, Name: "rose"}, plants.NewIdempotencyKey()
	if err := s.Create(t.Context(), "alice", p, token); err != nil {
		t.Fatal(err)
	}
	before := commits(t, s)
	tx, err := s.db.Begin(true) // commits wait for this transaction
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	inTime(t, func() {
		for i, test := range []struct{ got, want error }{
			{s.Create(t.Context(), "alice", p, token), nil},
			{s.Create(t.Context(), "alice", plants.Plant{ID: 1, Name: "ivy"}, token), plants.ErrKeyReused},
			{s.Create(t.Context(), "alice", p, plants.NewIdempotencyKey()), plants.ErrInUse},
			{s.Create(t.Context(), "bob", p, token), plants.ErrInUse},
			{s.Delete(t.Context(), "bob", 1), plants.ErrNotFound},
			{s.Delete(t.Context(), "alice", 2), plants.ErrNotFound},
		} {
			if !errors.Is(test.got, test.want) {
				t.Errorf("call %d: %v, want %v", i, test.got, test.want)
			}
		}
	})
	if n := commits(t, s); n != before {
		t.Errorf("%d commits for nothing", n-before)
	}
}

// An answer waits until everything it depends on is on disk: what an earlier
// process wrote, which may have been killed before its sync, and what a commit in
// progress has written.
func TestAnswersAreDurable(t *testing.T) {
	path := newPath(t)
	if err := openTest(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, path)
	if s.db.NoSync {
		t.Error("commits don't wait for the disk")
	}
	before := commits(t, s)
	deleteNothing := func() {
		t.Helper()
		if err := s.Delete(t.Context(), "alice", 1); !errors.Is(err, plants.ErrNotFound) {
			t.Error(err)
		}
	}
	deleteNothing()
	if n := commits(t, s) - before; n != 1 {
		t.Errorf("%d commits after the file was opened, want 1", n)
	}

	s.commit.Lock()
	last := s.durable.Swap(0)
	done := make(chan struct{})
	go func() { defer close(done); deleteNothing() }()
	select {
	case <-done:
		t.Error("answered during the commit")
	case <-time.After(50 * time.Millisecond):
	}
	s.durable.Store(last)
	s.commit.Unlock()
	<-done
	if n := commits(t, s) - before; n != 1 {
		t.Errorf("%d commits, want 1", n)
	}
}

// fill creates plants of alice until the store has no space for another, and
// returns their number.
func fill(t *testing.T, s *Store) int64 {
	t.Helper()
	name := strings.Repeat("x", plants.MaxNameLength)
	for id := int64(0); ; id++ {
		err := s.Create(t.Context(), "alice", plants.Plant{ID: id, Name: name}, plants.NewIdempotencyKey())
		if errors.Is(err, plants.ErrUnwritable) {
			if !strings.Contains(err.Error(), s.path) {
				t.Errorf("error %q does not name the file", err)
			}
			return id
		}
		if err != nil || id == 100_000 {
			t.Fatalf("plant %d: %v", id, err)
		}
	}
}

// mustHave fails the test unless alice's plants are those below n, possibly with
// n itself, whose creation failed.
func mustHave(t *testing.T, s *Store, n int64) {
	t.Helper()
	page, err := s.List(t.Context(), "alice", plants.Query{Limit: maxPage})
	if got := int64(len(page.Plants)); err != nil || got != n && got != n+1 {
		t.Fatalf("there are %d plants, want %d: %v", got, n, err)
	}
	for i, p := range page.Plants {
		if p.ID != int64(i) {
			t.Errorf("plant %d is missing", i)
		}
	}
}

// If a shared commit fails, all its writers get the error. A limit of the file's
// size simulates a full disk; package e2e fills a real one.
func TestFailedCommitAnswersAll(t *testing.T) {
	s := openTest(t, newPath(t))
	s.db.MaxSize = 128 << 10
	n := fill(t, s)
	errs := together(t, s, 20, func(i int64) error {
		// Two each of one id: the second is in use only if the first is stored.
		p := plants.Plant{ID: -1 - i/2, Name: strings.Repeat("x", 256), Tag: new(strings.Repeat("x", 256))}
		return s.Create(t.Context(), "bob", p, plants.NewIdempotencyKey())
	})
	failed := 0
	for _, err := range errs {
		if errors.Is(err, plants.ErrUnwritable) {
			failed++
		} else if err != nil {
			t.Error(err)
		}
	}
	if failed < 19 { // the first has a commit of its own
		t.Errorf("%d of 20 creates failed", failed)
	}
	mustHave(t, s, n)
}
