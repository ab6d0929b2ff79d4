package bolt

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// batchDelay is how long the first write of a batch waits for others. A lone
// write waits in vain, so it should be short beside the commit that follows,
// of some milliseconds on most disks; clients that have just had their answers
// from one commit need far less to meet again in the next. bbolt's own 10 ms
// would be most of a lone write's time.
const batchDelay = time.Millisecond

// write runs fn in a transaction, together with the writes that come at the
// same time, and returns its answer once the transaction is on disk. It stops
// waiting when ctx ends; then the transaction may still happen.
//
// fn returns an answer, nil for success, or, to undo what it did, an err. It
// may run more than once; only the last run counts.
func (s *Store) write(ctx context.Context, fn func(*bbolt.Tx) (answer, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1) // of its own, should nobody wait any more
	go func() { done <- s.batch(ctx, fn) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) batch(ctx context.Context, fn func(*bbolt.Tx) (answer, err error)) error {
	// An error returned to Batch takes back the writes of everyone in the batch
	// and runs them all again. That is too much for an id in use.
	var answer error
	err := s.db.Batch(func(tx *bbolt.Tx) (err error) {
		if answer = ctx.Err(); answer != nil {
			return nil // nobody waits any more
		}
		answer, err = fn(tx)
		return err
	})
	if err != nil {
		// No answer holds: even ErrInUse may be owed to a plant that was made
		// in this very transaction.
		return s.unreachable(err)
	}
	return answer
}

// unreachable returns an error of bbolt as [plants.ErrUnreachable]: what is
// left of them, for keys and values of proper size, are those of the disk and
// of a closed file.
func (s *Store) unreachable(err error) error {
	return fmt.Errorf("%w: %s: %w", plants.ErrUnreachable, s.path, err)
}
