// Package bolt implements [plants.Store] in a single file, using
// go.etcd.io/bbolt. It suits a server on one machine and needs no separate
// database.
package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// maxPage limits a page, whatever its query asks for. A page is read in one
// transaction, and while that is open, the file can't grow beyond its mapping
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
// the damage. The file keeps the last commit, and stays open until the process
// ends.
type Store struct {
	db   *bbolt.DB
	path string
	queue

	// broken is done once damage was found; its cause is the error to return.
	broken context.Context
	fail   context.CancelCauseFunc
}

var _ plants.Store = (*Store)(nil)

// Close waits for the transactions in progress and closes the file. Later calls
// return [plants.ErrUnreachable]. Closing twice does nothing.
func (s *Store) Close() error {
	if s.broken.Err() != nil {
		return nil // bbolt could wait forever for its own locks
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return nil
}

// run calls fn in a new goroutine and returns its error, or ctx's error if ctx
// ends first. In that case fn still runs to its end.
func (s *Store) run(ctx context.Context, fn func() error) error {
	if err := cmp.Or(ctx.Err(), context.Cause(s.broken)); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- s.guard(fn) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.broken.Done(): // bbolt's locks may never be released
		return context.Cause(s.broken)
	}
}

// guard calls fn. If fn meets damage, the store is broken.
func (s *Store) guard(fn func() error) error {
	err := guard(fn)
	if errors.Is(err, errDamaged) {
		err = fmt.Errorf("the plants file %s: %w", s.path, err)
		s.fail(err)
	}
	return err
}

// Create implements [plants.Store].
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	prefix, err := ownerKey(owner)
	if err != nil {
		return err
	}
	value, err := encode(p, token, time.Now())
	if err != nil {
		return err
	}
	id, key := appendID(nil, p.ID), appendID(prefix, p.ID)
	return s.write(ctx, func(tx *bbolt.Tx) (settled bool, answer error) {
		switch holder := tx.Bucket(idsBucket).Get(id); {
		case holder == nil:
			return false, nil
		case string(holder) != owner:
			return true, plants.ErrInUse
		default:
			return true, repeated(tx.Bucket(plantsBucket).Get(key), p, token)
		}
	}, func(tx *bbolt.Tx) error {
		return cmp.Or(tx.Bucket(idsBucket).Put(id, []byte(owner)), tx.Bucket(plantsBucket).Put(key, value))
	})
}

// repeated returns the answer to a create whose owner already has a plant with
// that id, stored in value.
func repeated(value []byte, p plants.Plant, token plants.IdempotencyKey) error {
	switch old, oldToken, err := decode(p.ID, value); {
	case err != nil:
		return err
	case oldToken != token:
		return plants.ErrInUse
	case !old.Same(p):
		return plants.ErrKeyReused
	}
	return nil
}

// List implements [plants.Store]. A page has at most 1000 plants.
func (s *Store) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	prefix, err := ownerKey(owner)
	if err != nil {
		return plants.Page{}, err
	}
	var page plants.Page
	err = s.run(ctx, func() (err error) {
		viewErr := s.db.View(func(tx *bbolt.Tx) error {
			page, err = readPage(tx.Bucket(plantsBucket).Cursor(), prefix, q)
			return nil
		})
		return cmp.Or(s.unreachable(viewErr), err)
	})
	if err != nil {
		return plants.Page{}, err // page may still be written to
	}
	return page, nil
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
	prefix, err := ownerKey(owner)
	if err != nil {
		return err
	}
	idKey, key := appendID(nil, id), appendID(prefix, id)
	return s.write(ctx, func(tx *bbolt.Tx) (settled bool, answer error) {
		if holder := tx.Bucket(idsBucket).Get(idKey); string(holder) == owner {
			return false, nil
		}
		return true, plants.ErrNotFound
	}, func(tx *bbolt.Tx) error {
		return cmp.Or(tx.Bucket(idsBucket).Delete(idKey), tx.Bucket(plantsBucket).Delete(key))
	})
}
