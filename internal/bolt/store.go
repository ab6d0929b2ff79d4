// Package bolt implements [plants.Store] in a single file, using
// go.etcd.io/bbolt. It suits a server on one machine and needs no separate
// database.
package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"example.com/plantstore/internal/plants"
)

// maxPage limits a page. While one is read, the file can't grow beyond its mapping
// and writers can't reuse the pages that they freed.
const maxPage = 1000

// A Store keeps plants in a file, which it locks while it is open.
//
// List is never stale. Create and Delete return once their change is on disk
// (fdatasync); concurrent calls share a commit. A Store never returns
// [plants.ErrThrottled]. It returns [plants.ErrUnwritable] if the file can't be
// written, for example because the disk is full, and [plants.ErrUnreachable] if
// the Store is closed.
//
// A Store doesn't search its file for damage. If bbolt panics or faults on a
// damaged page, the call fails with an error that names the file, and so do all
// later calls: bbolt may still hold its locks, and further writes could spread
// the damage. Until the process ends, the file stays open, and calls that were
// already waiting for a lock may not return. One kind of damage goes unnoticed: if
// the newer of bbolt's two meta pages is invalid, bbolt uses the older one, and the
// last commit is lost.
//
// Any other panic is a bug. It reaches the call that has it, whose change is
// rolled back; the Store remains usable.
type Store struct {
	db     *bbolt.DB
	path   string
	broken atomic.Value // the error that all calls return once damage was found

	mu         sync.Mutex   // for waiting and committing
	waiting    []*write     // for the next commit
	committing bool         // commitAll is running
	durable    atomic.Int64 // the last transaction known to be on disk
}

// Close waits for the transactions in progress and closes the file. Writes that
// wait for a commit get [plants.ErrUnwritable]. Closing twice does nothing.
func (s *Store) Close() error {
	if s.broken.Load() != nil {
		return nil // bbolt could wait forever for its own locks
	}
	return s.db.Close()
}

// guard calls fn, unless damage was found before. If fn meets it, s is broken.
func (s *Store) guard(fn func() error) error {
	if s.broken.Load() == nil {
		err := catch(fn)
		if !errors.Is(err, errDamaged) {
			return err
		}
		s.broken.CompareAndSwap(nil, fmt.Errorf("the plants file %s: %w", s.path, err))
	}
	return s.broken.Load().(error)
}

// view calls fn in a transaction that only reads, unless ctx has ended.
func (s *Store) view(ctx context.Context, fn func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return repanic(s.guard(func() error {
		err := s.db.View(fn)
		if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
			return fmt.Errorf("%w: %s: %w", plants.ErrUnreachable, s.path, err)
		}
		return err
	}))
}

// Create implements [plants.Store].
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	value, err := encode(p, record{CreatedAt: time.Now().UTC(), IdempotencyKey: key})
	if err != nil {
		return err
	}
	idKey, plantKey := appendID(nil, p.ID), appendID(ownerKey(owner), p.ID)
	return s.write(ctx, func(tx *bbolt.Tx) (change func() error, answer error) {
		ids, all := tx.Bucket(idsBucket), tx.Bucket(plantsBucket)
		switch holder := ids.Get(idKey); {
		case holder == nil:
			return func() error {
				if err := ids.Put(idKey, []byte(owner)); err != nil {
					return err
				}
				return all.Put(plantKey, value)
			}, nil
		case string(holder) != owner:
			return nil, plants.ErrInUse
		}
		switch old, r, err := decode(p.ID, all.Get(plantKey)); {
		case err != nil:
			return nil, err
		case r.IdempotencyKey != key:
			return nil, plants.ErrInUse
		case !old.Same(p):
			return nil, plants.ErrKeyReused
		}
		return nil, nil // a retry
	})
}

// List implements [plants.Store]. A page has at most 1000 plants.
func (s *Store) List(ctx context.Context, owner string, q plants.Query) (page plants.Page, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) (err error) {
		page, err = readPage(tx.Bucket(plantsBucket).Cursor(), ownerKey(owner), q)
		return err
	})
	return page, err
}

// readPage returns the page that q selects among the plants whose keys start
// with prefix.
func readPage(c *bbolt.Cursor, prefix []byte, q plants.Query) (plants.Page, error) {
	from := prefix
	if q.After != nil {
		from = append(appendID(prefix, *q.After), 0) // the least key after that one
	}
	var page plants.Page
	limit := min(q.Limit, maxPage)
	for k, v := c.Seek(from); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if len(page.Plants) == limit {
			page.Next = &page.Plants[limit-1].ID
			return page, nil
		}
		p, _, err := decode(parseID(k[len(prefix):]), v)
		if err != nil {
			return plants.Page{}, err
		}
		page.Plants = append(page.Plants, p)
	}
	return page, nil
}

// Delete implements [plants.Store].
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	idKey, plantKey := appendID(nil, id), appendID(ownerKey(owner), id)
	return s.write(ctx, func(tx *bbolt.Tx) (change func() error, answer error) {
		ids := tx.Bucket(idsBucket)
		if string(ids.Get(idKey)) != owner {
			return nil, plants.ErrNotFound
		}
		return func() error {
			if err := ids.Delete(idKey); err != nil {
				return err
			}
			return tx.Bucket(plantsBucket).Delete(plantKey)
		}, nil
	})
}
