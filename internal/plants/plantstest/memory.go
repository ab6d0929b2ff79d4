package plantstest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"example.com/plantstore/internal/plants"
)

// A Memory is a store in memory, for tests of code that uses a store. The zero
// Memory is empty.
type Memory struct {
	Err       error // returned by every call, if not nil
	Overwrite bool  // lets Create replace any plant

	mu   sync.Mutex
	byID map[int64]entry
}

type entry struct {
	owner string
	plant plants.Plant
	key   plants.IdempotencyKey
}

// put stores e. The caller holds the lock.
func (m *Memory) put(e entry) {
	if m.byID == nil {
		m.byID = map[int64]entry{}
	}
	m.byID[e.plant.ID] = e
}

// Create implements [plants.Store].
func (m *Memory) Create(ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch old, taken := m.byID[p.ID]; {
	case m.failure(ctx) != nil:
		return m.failure(ctx)
	case !taken || m.Overwrite:
		m.put(entry{owner, p, key})
	case old.owner != owner || old.key != key:
		return plants.ErrInUse
	case !old.plant.Same(p):
		return plants.ErrKeyReused
	}
	return nil
}

// List implements [plants.Store].
func (m *Memory) List(ctx context.Context, owner string, q plants.Query) (page plants.Page, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.byID)) {
		switch e := m.byID[id]; {
		case e.owner != owner || q.After != nil && id <= *q.After:
		case len(page.Plants) < q.Limit:
			page.Plants = append(page.Plants, e.plant)
		default:
			page.Next = &page.Plants[q.Limit-1].ID
			return page, m.failure(ctx)
		}
	}
	return page, m.failure(ctx)
}

// Delete implements [plants.Store].
func (m *Memory) Delete(ctx context.Context, owner string, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failure(ctx); err != nil {
		return err
	}
	if m.byID[id].owner != owner {
		return plants.ErrNotFound
	}
	delete(m.byID, id)
	return nil
}

// failure returns the error of a call, or nil if it may succeed.
func (m *Memory) failure(ctx context.Context) error { return cmp.Or(m.Err, ctx.Err()) }
