package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"example.com/plantstore/internal/plants"
)

// A write is a Create or a Delete.
type write struct {
	ctx    context.Context
	check  func(*bbolt.Tx) (settled bool, answer error) // settled: there is nothing to change
	apply  func(*bbolt.Tx) error                        // makes the change
	answer error                                        // nil for success
	done   chan error                                   // receives the answer once it is durable
}

// A queue holds the writes that wait for a commit. A commit starts as soon as the
// previous one has ended, and takes all writes that are waiting then.
type queue struct {
	mu      sync.Mutex
	waiting []*write
	active  bool // commitAll is running

	commit  sync.RWMutex // locked during a commit
	durable atomic.Int64 // the last transaction known to be on disk
}

// write checks whether there is anything to change, and if so, applies the
// change in a transaction. It returns the answer once that is on disk, or when
// ctx ends; then the change may still happen.
func (s *Store) write(ctx context.Context, check func(*bbolt.Tx) (bool, error), apply func(*bbolt.Tx) error) error {
	w := &write{ctx: ctx, check: check, apply: apply, done: make(chan error, 1)}
	return s.run(ctx, func() error {
		settled, err := s.settle(w)
		if settled || err != nil {
			return cmp.Or(s.unreachable(err), w.answer)
		}
		s.mu.Lock()
		s.waiting = append(s.waiting, w)
		if !s.active {
			s.active = true
			go s.guard(s.commitAll)
		}
		s.mu.Unlock()
		return <-w.done
	})
}

// settle answers w by reading, unless w has to make a change.
func (s *Store) settle(w *write) (settled bool, err error) {
	var seen int64
	err = s.db.View(func(tx *bbolt.Tx) error {
		seen = int64(tx.ID())
		settled, w.answer = w.check(tx)
		return nil
	})
	if settled && seen > s.durable.Load() {
		// A transaction is visible shortly before it is on disk, and an answer
		// must not depend on what a power failure could undo.
		s.commit.RLock()
		settled = seen <= s.durable.Load()
		s.commit.RUnlock()
	}
	return settled, err
}

// commitAll commits until no write is waiting.
func (s *Store) commitAll() error {
	for {
		s.mu.Lock()
		batch := s.waiting
		s.waiting = nil
		s.active = len(batch) > 0
		s.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		for len(batch) > 0 {
			batch = s.commitBatch(batch)
		}
	}
}

// commitBatch carries out the writes of batch in one transaction and answers
// them. If one of them fails, the transaction is rolled back, that write gets the
// error, and commitBatch returns the others.
func (s *Store) commitBatch(batch []*write) (others []*write) {
	s.commit.Lock()
	defer s.commit.Unlock()
	var id int64
	var failed *write
	err := s.db.Update(func(tx *bbolt.Tx) error {
		id = int64(tx.ID())
		for _, w := range batch {
			var settled bool
			if w.answer = w.ctx.Err(); w.answer != nil {
				continue
			}
			if settled, w.answer = w.check(tx); settled {
				continue
			}
			if err := w.apply(tx); err != nil {
				failed = w
				return err
			}
		}
		return nil
	})
	if failed != nil {
		failed.done <- s.unwritable(err)
		return slices.DeleteFunc(batch, func(w *write) bool { return w == failed })
	}
	if err == nil {
		s.durable.Store(id)
	}
	for _, w := range batch {
		// After an error the answers don't count: even ErrInUse may be due to a
		// plant of the failed transaction.
		w.done <- cmp.Or(s.unwritable(err), w.answer)
	}
	return nil
}

// unwritable wraps an error of a commit in [plants.ErrUnwritable] or, if the file
// is closed, in [plants.ErrUnreachable]. With keys and values of valid size, any
// other error is the disk's.
func (s *Store) unwritable(err error) error {
	if err == nil || errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return s.unreachable(err)
	}
	return fmt.Errorf("%w: %s: %w", plants.ErrUnwritable, s.path, err)
}

// unreachable wraps an error in [plants.ErrUnreachable]. A read fails only if the
// file is closed.
func (s *Store) unreachable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", plants.ErrUnreachable, s.path, err)
}
