package recordstest

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"example.com/plantstore/internal/records"
)

// A Memory is a store in memory, for tests of code that uses a store. The zero
// Memory is empty.
type Memory[T any] struct {
	Err error // returned by every call, if not nil

	mu   sync.Mutex
	byID map[int64]entry[T]
}

type entry[T any] struct {
	owner  string
	record records.Record[T]
	token  records.WriteToken
}

// put stores e. The caller holds the lock.
func (m *Memory[T]) put(e entry[T]) {
	if m.byID == nil {
		m.byID = map[int64]entry[T]{}
	}
	m.byID[e.record.ID] = e
}

// Create implements [records.Store].
func (m *Memory[T]) Create(ctx context.Context, owner string, r records.Record[T], token records.WriteToken) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch old, taken := m.byID[r.ID]; {
	case m.callError(ctx) != nil:
		return m.callError(ctx)
	case !taken:
		m.put(entry[T]{owner: owner, record: r, token: token})
	case old.owner != owner || old.token != token:
		return records.ErrInUse
	case !reflect.DeepEqual(old.record.Fields, r.Fields):
		return records.ErrWriteTokenReused
	}
	return nil
}

// List implements [records.Store].
func (m *Memory[T]) List(ctx context.Context, owner string, q records.Query) (page records.Page[T], err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.byID)) {
		switch e := m.byID[id]; {
		case e.owner != owner || q.After != nil && id <= *q.After:
		case len(page.Records) < q.Limit:
			page.Records = append(page.Records, e.record)
		default:
			page.Next = &page.Records[q.Limit-1].ID
			return page, m.callError(ctx)
		}
	}
	return page, m.callError(ctx)
}

// Delete implements [records.Store].
func (m *Memory[T]) Delete(ctx context.Context, owner string, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.callError(ctx); err != nil {
		return err
	}
	if m.byID[id].owner != owner {
		return records.ErrNotFound
	}
	delete(m.byID, id)
	return nil
}

// callError returns the error of a call, or nil if it may succeed.
func (m *Memory[T]) callError(ctx context.Context) error { return cmp.Or(m.Err, ctx.Err()) }
