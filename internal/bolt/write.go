package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// batchDelay is how long the first write of a batch waits for others. It is
// short compared with a commit, which takes a few milliseconds on most disks,
// since a lone write waits in vain. bbolt's default is 10 ms.
const batchDelay = time.Millisecond

// write runs fn in a transaction, which concurrent writes may share, and returns
// its answer once the transaction is on disk. If ctx ends first, the transaction
// may still be committed.
//
// fn returns an answer, nil for success, or an err to undo its changes. It may
// run more than once; only the last run counts.
func (s *Store) write(ctx context.Context, fn func(*bbolt.Tx) (answer, err error)) error {
	return s.run(ctx, func() error {
		// An answer isn't returned to Batch: that would roll back the whole
		// batch, and run it again without this write.
		var answer error
		err := s.db.Batch(func(tx *bbolt.Tx) error {
			return guard(func() (err error) {
				if answer = ctx.Err(); answer == nil {
					answer, err = fn(tx)
				}
				return err
			})
		})
		// After an error the answer doesn't count: even ErrInUse may be due to
		// a plant that the failed transaction created.
		return cmp.Or(s.unreachable(err), answer)
	})
}

// unreachable wraps an error of bbolt, other than damage, in
// [plants.ErrUnreachable]. With keys and values of valid size, bbolt reports
// only disk errors and a closed file.
func (s *Store) unreachable(err error) error {
	if err == nil || errors.Is(err, errDamaged) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", plants.ErrUnreachable, s.path, err)
}
