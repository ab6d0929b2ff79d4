package plantstest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"example.com/plantstore/internal/plants"
)

// A Memory is a store in memory, for tests of code that uses a store. The zero
// Memory is empty.
type Memory struct {
	Err error // returned by every call, if not nil

	mu   sync.Mutex
	byID map[int64]entry
}

var _ plants.Store = (*Memory)(nil)

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
	old, taken := m.byID[p.ID]
	switch {
	case m.failure(ctx) != nil:
		return m.failure(ctx)
	case !taken:
		m.put(entry{owner, p, key})
		return nil
	case old.owner != owner || old.key != key:
		return plants.ErrInUse
	case !old.plant.Same(p):
		return plants.ErrKeyReused
	}
	return nil
}

// List implements [plants.Store].
func (m *Memory) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failure(ctx); err != nil {
		return plants.Page{}, err
	}
	var page plants.Page
	for id, e := range m.byID {
		if e.owner == owner && (q.After == nil || id > *q.After) {
			page.Plants = append(page.Plants, e.plant)
		}
	}
	slices.SortFunc(page.Plants, func(a, b plants.Plant) int { return cmp.Compare(a.ID, b.ID) })
	if len(page.Plants) > q.Limit {
		page.Plants, page.More = page.Plants[:q.Limit], true
	}
	return page, nil
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
