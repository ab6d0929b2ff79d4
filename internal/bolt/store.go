// Package bolt implements [plants.Store] in a single file, using
// go.etcd.io/bbolt. It suits a server on one machine and needs no separate
// database.
package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"example.com/plantstore/internal/plants"
)

// A Store keeps plants in a file, which is locked while it is open.
//
// List is never stale. Create and Delete return once their change is on disk
// (fdatasync). They return [plants.ErrUnwritable] if the file can't be written, for
// example because the disk is full.
//
// A disk may stall. If the context of a Create or Delete ends meanwhile, the call returns, and
// its write goes on. Once maxWrites are waiting, further calls return [plants.ErrThrottled].
type Store struct {
	db     *bbolt.DB
	path   string
	writes chan struct{} // an element for each write in progress, even if its caller has stopped waiting
	lost   chan error    // has room for one
}

// maxWrites limits the memory that writes take while the disk stalls.
const maxWrites = 1000

// pageSize is how many bytes of values List reads before it ends a page. The server holds a
// response until its client has read it, so this limits the memory that slow clients take.
const pageSize = 512 << 10

// Lost returns a channel that receives an error if the program must end, see checkMap.
func (s *Store) Lost() <-chan error { return s.lost }

// Close waits for the transactions in progress and closes the file. A program may exit without it: what
// Create and Delete have confirmed is on disk, and a commit that is cut off has no effect.
func (s *Store) Close() error { return s.db.Close() }

// write makes a change in a transaction, unless ctx has ended, and returns after the commit. If
// ctx ends meanwhile, write returns ctx's error. The transaction goes on, since nothing can
// interrupt a disk.
func (s *Store) write(ctx context.Context, change func(*bbolt.Tx) (refusal error)) error {
	select {
	case s.writes <- struct{}{}:
	default:
		return fmt.Errorf("%w: %s: %d writes are waiting for the disk", plants.ErrThrottled, s.path, maxWrites)
	}
	result := make(chan error, 1) // has room, in case nobody receives from it any more
	go func() {
		err := s.commit(ctx, change)
		<-s.writes
		result <- err
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the disk of %s: %w", s.path, ctx.Err())
	}
}

// commit is the part of write that goes on if ctx ends.
//
// The change may refuse, for example because the id is in use. Even then the transaction is committed,
// since the plant in the way may not be on disk yet: an earlier commit of it may have failed, or it may
// come from another call in this transaction.
func (s *Store) commit(ctx context.Context, change func(*bbolt.Tx) (refusal error)) (err error) {
	defer s.recoverTo(&err)
	transact := s.db.Batch  // waits a little, so that concurrent writes share a commit
	if len(s.writes) == 1 { // nothing to share it with
		transact = s.db.Update
	}
	var refusal error
	err = transact(panicOnFault(func(tx *bbolt.Tx) error { // possibly several times, see Batch
		if refusal = ctx.Err(); refusal == nil {
			refusal = change(tx)
		}
		return nil // an error would undo the transaction
	}))
	if err != nil {
		s.checkMap(err)
		return fmt.Errorf("%w: %s: %w", plants.ErrUnwritable, s.path, err)
	}
	return refusal
}

// checkMap reports a lost memory map, after a commit that failed for the given cause. To enlarge the map,
// bbolt first gives it up. If the system then refuses the larger one, for example because memory is
// limited, all further calls fail (https://github.com/etcd-io/bbolt/issues/169).
func (s *Store) checkMap(cause error) {
	err := s.db.View(func(*bbolt.Tx) error { return nil })
	if !errors.Is(err, bbolterrors.ErrInvalidMapping) {
		return // the map is there
	}
	select {
	case s.lost <- fmt.Errorf("the data file %s can't be mapped to memory: %w: start the program again", s.path, cause):
	default: // another write has reported it
	}
}

// read runs a function in a transaction that changes nothing, unless ctx has ended.
func (s *Store) read(ctx context.Context, reads func(*bbolt.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.recoverTo(&err)
	return s.db.View(panicOnFault(reads))
}

// panicOnFault makes a fault in f a panic, which ends only the call. Bbolt maps the file to memory, so
// a page that can't be read is a fault. Elsewhere in bbolt, for example in a commit, a fault still ends
// the program, as it must: after a panic there, bbolt would stay locked for good.
func panicOnFault(f func(*bbolt.Tx) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		return f(tx)
	}
}

// recoverTo, when deferred, stores a panic in *err.
func (s *Store) recoverTo(err *error) {
	switch v := recover(); {
	case isFault(v):
		*err = fmt.Errorf("the data file %s: a page can't be read: check the disk", s.path)
	case v != nil:
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// isFault reports whether v is the value of a panic that SetPanicOnFault has made of a fault.
func isFault(v any) bool {
	_, ok := v.(interface{ Addr() uintptr })
	return ok
}

// Create implements [plants.Store].
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant) error {
	v, err := json.Marshal(&value{p, time.Now().UTC()})
	if err != nil {
		return err
	}
	idKey, plantKey := appendID(nil, p.ID), appendID(ownerPrefix(owner), p.ID)
	return s.write(ctx, func(tx *bbolt.Tx) error {
		ids, stored := tx.Bucket(plantIDBucket), tx.Bucket(plantBucket)
		switch holder := ids.Get(idKey); {
		case holder == nil:
			must(ids.Put(idKey, []byte(owner)))
			must(stored.Put(plantKey, v))
			return nil
		case string(holder) != owner:
			return plants.ErrInUse
		}
		old := plants.Plant{ID: p.ID}
		if err := s.decode(stored.Get(plantKey), &old); err != nil {
			return err
		}
		if !old.Equal(p) {
			return plants.ErrExists
		}
		return nil
	})
}

// List implements [plants.Store].
func (s *Store) List(ctx context.Context, owner string, after *int64, limit int) (
	page []plants.Plant, more bool, err error,
) {
	prefix := ownerPrefix(owner)
	from := prefix
	if after != nil {
		from = append(appendID(ownerPrefix(owner), *after), 0) // the smallest key after that one
	}
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		c, size := tx.Bucket(plantBucket).Cursor(), 0
		for k, v := c.Seek(from); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			if len(page) == limit || size >= pageSize {
				more = true
				return nil
			}
			p := plants.Plant{ID: parseID(k[len(prefix):])}
			if err := s.decode(v, &p); err != nil {
				return err
			}
			page, size = append(page, p), size+len(v)
		}
		return nil
	})
	return page, more, err
}

// Delete implements [plants.Store].
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	idKey, plantKey := appendID(nil, id), appendID(ownerPrefix(owner), id)
	return s.write(ctx, func(tx *bbolt.Tx) error {
		ids := tx.Bucket(plantIDBucket)
		if string(ids.Get(idKey)) != owner {
			return plants.ErrNotFound
		}
		must(ids.Delete(idKey))
		must(tx.Bucket(plantBucket).Delete(plantKey))
		return nil
	})
}

// must panics if a bucket refuses a key or a value, since an error would be a refusal, which is committed.
// Buckets refuse only impossible sizes: nothing is written to disk before the commit.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// decode adds the fields of a stored value to p, which has the id from its key.
func (s *Store) decode(value []byte, p *plants.Plant) error {
	if err := json.Unmarshal(value, p); err != nil {
		return fmt.Errorf("the data file %s: the plant with id %d is damaged: %w", s.path, p.ID, err)
	}
	return nil
}
