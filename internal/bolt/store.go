// Package bolt is a [plants.Store] in one file, on go.etcd.io/bbolt: for a
// server on one machine that needs no database beside it.
package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// maxPage bounds the plants of a page, whatever its query asks for. A page is
// read in one transaction, and while one is open the file can neither be mapped
// anew, as it must be to grow, nor reuse the pages that writers have left.
const maxPage = 1000

// A Store keeps plants in a file, which belongs to it alone while it is open.
//
// It does not lag: List shows what Create and Delete did before it was called.
// Their answers mean that the file is on disk (fdatasync), and concurrent ones
// share one such wait. A Store never returns [plants.ErrThrottled]. It returns
// [plants.ErrUnreachable] where the file can't be written, as on a full disk,
// or is closed.
type Store struct {
	db   *bbolt.DB
	path string
}

var _ plants.Store = (*Store)(nil)

// Close waits for the calls that are at work on the file, then closes it. Calls
// that come later get [plants.ErrUnreachable]. Closing twice does nothing.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return nil
}

// Create implements [plants.Store].
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	prefix, err := ownerKey(owner)
	if err != nil {
		return err
	}
	key := appendID(prefix, p.ID)
	value, err := encode(p, token, time.Now())
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *bbolt.Tx) (answer, err error) {
		ids, all := tx.Bucket(idsBucket), tx.Bucket(plantsBucket)
		id := appendID(nil, p.ID)
		switch holder := ids.Get(id); {
		case holder == nil:
		case string(holder) != owner:
			return plants.ErrInUse, nil
		default:
			return repeated(all.Get(key), p, token), nil
		}
		if err := ids.Put(id, []byte(owner)); err != nil {
			return nil, err
		}
		return nil, all.Put(key, value)
	})
}

// repeated returns the answer to the create of a plant whose id its owner uses
// already, for the plant in value.
func repeated(value []byte, p plants.Plant, token plants.WriteToken) error {
	switch old, oldToken, err := decode(p.ID, value); {
	case err != nil:
		return err
	case oldToken != token:
		return plants.ErrInUse
	case !old.Same(p):
		return plants.ErrTokenReused
	}
	return nil
}

// List implements [plants.Store]. A page has at most 1000 plants.
func (s *Store) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	prefix, err := ownerKey(owner)
	if err != nil {
		return plants.Page{}, err
	}
	if err := ctx.Err(); err != nil {
		return plants.Page{}, err
	}
	var page plants.Page
	var damage error
	err = s.db.View(func(tx *bbolt.Tx) error {
		page, damage = readPage(tx.Bucket(plantsBucket).Cursor(), prefix, q)
		return nil
	})
	if err != nil {
		return plants.Page{}, s.unreachable(err)
	}
	if damage != nil {
		return plants.Page{}, fmt.Errorf("read %s: %w", s.path, damage)
	}
	return page, nil
}

// readPage returns the page that q selects of the plants whose keys begin with
// prefix.
func readPage(c *bbolt.Cursor, prefix []byte, q plants.Query) (plants.Page, error) {
	from := prefix // which is no key itself
	if q.After != nil {
		from = appendID(prefix, *q.After)
	}
	k, v := c.Seek(from)
	if bytes.Equal(k, from) {
		k, v = c.Next()
	}
	var page plants.Page
	limit := min(q.Limit, maxPage)
	for ; bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if len(page.Plants) == limit {
			page.More = true
			return page, nil
		}
		id, err := parseID(k[len(prefix):])
		if err != nil {
			return plants.Page{}, err
		}
		p, _, err := decode(id, v)
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
	return s.write(ctx, func(tx *bbolt.Tx) (answer, err error) {
		ids, idKey := tx.Bucket(idsBucket), appendID(nil, id)
		if holder := ids.Get(idKey); holder == nil || string(holder) != owner {
			return plants.ErrNotFound, nil
		}
		if err := ids.Delete(idKey); err != nil {
			return nil, err
		}
		return nil, tx.Bucket(plantsBucket).Delete(appendID(prefix, id))
	})
}
