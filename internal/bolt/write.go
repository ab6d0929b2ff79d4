package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// A plan reads the database and decides what a write does. It returns the change,
// to make in the same transaction, or nil and the answer if nothing is to change.
type plan func(*bbolt.Tx) (change func() error, answer error)

// A write is a plan that waits for a commit. A commit starts as soon as the
// previous one has ended, and takes all writes that are waiting then.
type write struct {
	plan   plan
	answer error      // nil for success
	done   chan error // receives the answer once it is durable
}

// write carries out p. It returns the answer once that is on disk, or when ctx
// ends; then the change may still happen.
func (s *Store) write(ctx context.Context, p plan) error {
	w := &write{plan: p, done: make(chan error, 1)}
	var settled bool
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		var change func() error
		change, w.answer = p(tx)
		// A transaction is visible shortly before it is on disk, and an answer
		// must not depend on what a power failure could undo.
		settled = change == nil && int64(tx.ID()) <= s.durable.Load()
		return nil
	})
	if err != nil || settled {
		return cmp.Or(err, w.answer)
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	if !s.committing {
		s.committing = true
		go s.commitAll()
	}
	s.mu.Unlock()
	select {
	case err := <-w.done:
		return repanic(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commitAll commits until no write is waiting.
func (s *Store) commitAll() {
	for {
		s.mu.Lock()
		batch := s.waiting
		s.waiting = nil
		s.committing = len(batch) > 0
		s.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for len(batch) > 0 {
			batch = s.commitBatch(batch)
		}
	}
}

var errUnchanged = errors.New("nothing to commit") // rolls back a transaction

// commitBatch carries out the writes of batch in one transaction and answers
// them. If one of them fails or panics, the transaction is rolled back, that write
// gets the error, and commitBatch returns the others.
func (s *Store) commitBatch(batch []*write) (others []*write) {
	var current *write // whose plan or change is running
	err := s.guard(func() error {
		var id int64
		err := s.db.Update(func(tx *bbolt.Tx) error {
			id = int64(tx.ID())
			// A killed process may have left a transaction that isn't on disk.
			changed := s.durable.Load() < id-1
			for _, current = range batch {
				var change func() error
				if change, current.answer = current.plan(tx); change == nil {
					continue
				}
				changed = true
				if err := change(); err != nil {
					return err
				}
			}
			current = nil
			if !changed {
				return errUnchanged
			}
			return nil
		})
		if err == nil {
			s.durable.Store(id)
		} else if err != errUnchanged { // the disk's, since all keys and values have valid sizes
			return fmt.Errorf("%w: %s: %w", plants.ErrUnwritable, s.path, err)
		}
		return nil
	})
	if current != nil {
		current.done <- err
		return slices.DeleteFunc(batch, func(w *write) bool { return w == current })
	}
	for _, w := range batch {
		// After an error the answers don't count: even ErrInUse may be due to a
		// plant of the failed transaction.
		w.done <- cmp.Or(err, w.answer)
	}
	return nil
}
