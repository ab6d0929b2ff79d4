package bolt

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/records"
)

// maxPage limits a [records.Page]. While one is read, the file can't grow beyond its mapping
// and writers can't reuse the space that they freed.
const maxPage = 1000

// A Store keeps the records of one resource in a [File].
//
// List is never stale. Create and Delete return once their change is on disk
// (fdatasync). They return [records.ErrUnwritable] if the file can't be written, for
// example because the disk is full.
type Store[T any] struct {
	file *File

	// The names of its buckets, which format.go describes.
	idBucket, recordBucket []byte
}

// NewStore returns the store in two buckets of file: idBucket has the owner of each id,
// recordBucket has the records. The first write makes the buckets if they are missing.
// No other store may use them.
//
// It panics if a field has the name of a member that the store adds.
func NewStore[T any](file *File, idBucket, recordBucket string) *Store[T] {
	added := map[string]bool{}
	for member := range reflect.TypeFor[value[T]]().Fields() {
		name, _ := records.ParseTag(member.Tag)
		added[name] = true
	}
	for field := range reflect.TypeFor[T]().Fields() {
		if name, _ := records.ParseTag(field.Tag); added[name] {
			panic(fmt.Sprintf("bolt: the store adds the member %q itself: rename the field of %T", name, *new(T)))
		}
	}
	return &Store[T]{file, []byte(idBucket), []byte(recordBucket)}
}

// Create implements [records.Store].
func (s *Store[T]) Create(ctx context.Context, owner string, r records.Record[T], token records.WriteToken) error {
	v, err := json.Marshal(value[T]{r.Fields, time.Now().UTC(), token})
	if err != nil {
		return err
	}
	idKey, recordKey := appendID(nil, r.ID), appendID(ownerKey(owner), r.ID)
	return s.file.write(ctx, func(tx *bbolt.Tx) (changed bool, err error) {
		ids, stored := bucket(tx, s.idBucket), bucket(tx, s.recordBucket)
		switch holder := ids.Get(idKey); {
		case holder == nil:
			must(ids.Put(idKey, []byte(owner)))
			must(stored.Put(recordKey, v))
			return true, nil
		case string(holder) != owner:
			return false, records.ErrInUse
		}
		var old value[T]
		switch err := s.decode(r.ID, stored.Get(recordKey), &old); {
		case err != nil:
			return false, err
		case old.WriteToken != token:
			return false, records.ErrInUse
		case !reflect.DeepEqual(old.Fields, r.Fields):
			return false, records.ErrWriteTokenReused
		}
		return false, nil // a retry
	})
}

// List implements [records.Store]. A page has at most 1000 records.
func (s *Store[T]) List(ctx context.Context, owner string, q records.Query) (page records.Page[T], err error) {
	if err := ctx.Err(); err != nil {
		return page, err
	}
	prefix := ownerKey(owner)
	from, limit := prefix, min(q.Limit, maxPage)
	if q.After != nil {
		from = append(appendID(prefix, *q.After), 0) // the least key after that one
	}
	err = s.file.view(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(s.recordBucket)
		if stored == nil {
			return nil
		}
		c := stored.Cursor()
		for k, v := c.Seek(from); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			if len(page.Records) == limit {
				page.Next = &page.Records[limit-1].ID
				break
			}
			if len(k) != len(prefix)+8 {
				return s.damaged(fmt.Sprintf("a key has %d bytes", len(k)))
			}
			r := records.Record[T]{ID: parseID(k[len(prefix):])}
			if err := s.decode(r.ID, v, &r.Fields); err != nil {
				return err
			}
			page.Records = append(page.Records, r)
		}
		return nil
	})
	return page, err
}

// Delete implements [records.Store].
func (s *Store[T]) Delete(ctx context.Context, owner string, id int64) error {
	idKey, recordKey := appendID(nil, id), appendID(ownerKey(owner), id)
	return s.file.write(ctx, func(tx *bbolt.Tx) (changed bool, err error) {
		ids := tx.Bucket(s.idBucket)
		if ids == nil || string(ids.Get(idKey)) != owner {
			return false, records.ErrNotFound
		}
		must(ids.Delete(idKey))
		must(tx.Bucket(s.recordBucket).Delete(recordKey))
		return true, nil
	})
}

// decode stores the value of the record with the given id in v, a *value or a pointer
// to its Fields.
func (s *Store[T]) decode(id int64, b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return s.damaged(fmt.Sprintf("the record with id %d: %v", id, err))
	}
	return nil
}

// damaged returns the error for a call that can't use what it has read.
func (s *Store[T]) damaged(cause string) error {
	return fmt.Errorf("the data file %s: %w", s.file.path, damaged(cause))
}
