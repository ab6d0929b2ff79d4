package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// A Store keeps plants in a [File].
//
// List is never stale. Create and Delete return once their change is on disk
// (fdatasync). They return [plants.ErrUnwritable] if the file can't be written, for
// example because the disk is full.
type Store struct{ file *File }

// NewStore returns the store in file.
func NewStore(file *File) *Store { return &Store{file} }

// Create implements [plants.Store].
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant) error {
	v, err := json.Marshal(value{Name: p.Name, Tag: p.Tag, CreatedAt: time.Now().UTC()})
	if err != nil {
		return err
	}
	idKey, plantKey := appendID(nil, p.ID), appendID(ownerKey(owner), p.ID)
	return s.file.write(ctx, func(tx *bbolt.Tx) (changed bool, err error) {
		ids, stored := bucket(tx, idBucket), bucket(tx, plantBucket)
		switch holder := ids.Get(idKey); {
		case holder == nil:
			must(ids.Put(idKey, []byte(owner)))
			must(stored.Put(plantKey, v))
			return true, nil
		case string(holder) != owner:
			return false, plants.ErrInUse
		}
		old, err := s.decode(p.ID, stored.Get(plantKey))
		if err == nil && !old.Equal(p) {
			err = plants.ErrExists
		}
		return false, err
	})
}

// List implements [plants.Store].
func (s *Store) List(ctx context.Context, owner string, after *int64, limit int) (list []plants.Plant, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	prefix := ownerKey(owner)
	from := prefix
	if after != nil {
		from = append(appendID(prefix, *after), 0) // the least key after that one
	}
	err = s.file.view(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(plantBucket)
		if stored == nil {
			return nil
		}
		c := stored.Cursor()
		for k, v := c.Seek(from); bytes.HasPrefix(k, prefix) && len(list) < limit; k, v = c.Next() {
			if len(k) != len(prefix)+8 {
				return s.damaged(fmt.Sprintf("a key has %d bytes", len(k)))
			}
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
	idKey, plantKey := appendID(nil, id), appendID(ownerKey(owner), id)
	return s.file.write(ctx, func(tx *bbolt.Tx) (changed bool, err error) {
		ids := tx.Bucket(idBucket)
		if ids == nil || string(ids.Get(idKey)) != owner {
			return false, plants.ErrNotFound
		}
		must(ids.Delete(idKey))
		must(tx.Bucket(plantBucket).Delete(plantKey))
		return true, nil
	})
}

// decode returns the plant with the given id from its stored value.
func (s *Store) decode(id int64, b []byte) (plants.Plant, error) {
	var v value
	if err := json.Unmarshal(b, &v); err != nil {
		return plants.Plant{}, s.damaged(fmt.Sprintf("the plant with id %d: %v", id, err))
	}
	return plants.Plant{ID: id, Name: v.Name, Tag: v.Tag}, nil
}

// damaged returns the error for a call that can't use what it has read.
func (s *Store) damaged(cause string) error {
	return fmt.Errorf("the data file %s: %w", s.file.path, damaged(cause))
}
