// Package bolt implements [plants.Store] in a single file, using
// go.etcd.io/bbolt. It suits a server on one machine and needs no separate
// database.
package bolt

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// A Store keeps plants in a file, which is locked while it is open.
//
// List is never stale. Create and Delete return once their change is on disk
// (fdatasync). They return [plants.ErrUnwritable] if the file can't be written, for
// example because the disk is full.
type Store struct {
	db      *bbolt.DB
	writers atomic.Int64 // calls of write in progress
}

// Close waits for the transactions in progress and closes the file. Closing twice
// does nothing.
func (s *Store) Close() error { return s.db.Close() }

// write calls change in a transaction, unless ctx has ended. If change can't be carried
// out, for example because the id is in use, it changes nothing and returns a refusal for
// the caller. A refusal doesn't end the transaction, since other calls may share it.
//
// Even with a refusal, write returns only after a commit, so that the plant that caused the
// refusal is on disk. If the commit fails, the refusal doesn't count: that plant may have
// been part of the same transaction.
func (s *Store) write(ctx context.Context, change func(*bbolt.Tx) (refusal, err error)) error {
	// A lone call uses Update, which doesn't wait for others. Concurrent calls use Batch, which
	// waits a little so that they share a commit.
	transact := s.db.Batch
	if s.writers.Add(1) == 1 {
		transact = s.db.Update
	}
	defer s.writers.Add(-1)
	var refusal error
	err := transact(func(tx *bbolt.Tx) (err error) { // possibly several times, see Batch
		if refusal = ctx.Err(); refusal == nil {
			refusal, err = change(tx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %s: %w", plants.ErrUnwritable, s.db.Path(), err)
	}
	return refusal
}

// Create implements [plants.Store].
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant) error {
	v, err := json.Marshal(value{Name: p.Name, Tag: p.Tag, CreatedAt: time.Now().UTC()})
	if err != nil {
		return err
	}
	idKey, plantKey := appendID(nil, p.ID), appendID(ownerPrefix(owner), p.ID)
	return s.write(ctx, func(tx *bbolt.Tx) (refusal, err error) {
		ids, stored := tx.Bucket(idBucket), tx.Bucket(plantBucket)
		switch holder := ids.Get(idKey); {
		case holder == nil:
			if err := ids.Put(idKey, []byte(owner)); err != nil {
				return nil, err
			}
			return nil, stored.Put(plantKey, v)
		case string(holder) != owner:
			return plants.ErrInUse, nil
		}
		old, err := s.decode(p.ID, stored.Get(plantKey))
		if err != nil {
			return err, nil // ends this call alone, not the shared transaction
		}
		if !old.Equal(p) {
			return plants.ErrExists, nil
		}
		return nil, nil
	})
}

// List implements [plants.Store].
func (s *Store) List(ctx context.Context, owner string, after *int64, limit int) (list []plants.Plant, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	prefix := ownerPrefix(owner)
	from := prefix
	if after != nil {
		from = append(appendID(prefix, *after), 0) // the smallest key after that one
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(plantBucket).Cursor()
		for k, v := c.Seek(from); bytes.HasPrefix(k, prefix) && len(list) < limit; k, v = c.Next() {
			p, err := s.decode(parseID(k[len(prefix):]), v)
			if err != nil {
				return err
			}
			list = append(list, p)
		}
		return nil
	})
	return list, err
}

// Delete implements [plants.Store].
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	idKey, plantKey := appendID(nil, id), appendID(ownerPrefix(owner), id)
	return s.write(ctx, func(tx *bbolt.Tx) (refusal, err error) {
		ids := tx.Bucket(idBucket)
		if string(ids.Get(idKey)) != owner {
			return plants.ErrNotFound, nil
		}
		if err := ids.Delete(idKey); err != nil {
			return nil, err
		}
		return nil, tx.Bucket(plantBucket).Delete(plantKey)
	})
}

// decode returns the plant with the given id from its stored value.
func (s *Store) decode(id int64, b []byte) (plants.Plant, error) {
	var v value
	if err := json.Unmarshal(b, &v); err != nil {
		return plants.Plant{}, fmt.Errorf("the data file %s: the plant with id %d is damaged: %w", s.db.Path(), id, err)
	}
	return plants.Plant{ID: id, Name: v.Name, Tag: v.Tag}, nil
}
