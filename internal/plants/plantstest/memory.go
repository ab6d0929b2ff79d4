package plantstest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"example.com/plantstore/internal/plants"
)

// A Memory is a [plants.Store] in memory, for tests of code that uses a store. The zero
// Memory is empty.
type Memory struct {
	Err error // returned by every call, if not nil

	mu   sync.Mutex
	byID map[int64]owned
}

type owned struct {
	owner string
	plant plants.Plant
}

// put stores o. The caller holds the lock.
func (m *Memory) put(o owned) {
	if m.byID == nil {
		m.byID = map[int64]owned{}
	}
	m.byID[o.plant.ID] = o
}

// Create implements [plants.Store].
func (m *Memory) Create(ctx context.Context, owner string, p plants.Plant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.callError(ctx); err != nil {
		return err
	}
	switch old, taken := m.byID[p.ID]; {
	case !taken:
		m.put(owned{owner, p})
	case old.owner != owner:
		return plants.ErrInUse
	case !old.plant.Equal(p):
		return plants.ErrExists
	}
	return nil
}

// List implements [plants.Store].
func (m *Memory) List(ctx context.Context, owner string, after *int64, limit int) (
	page []plants.Plant, more bool, err error,
) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.callError(ctx); err != nil {
		return nil, false, err
	}
	for _, id := range slices.Sorted(maps.Keys(m.byID)) {
		if o := m.byID[id]; o.owner == owner && (after == nil || id > *after) {
			page = append(page, o.plant)
		}
	}
	if limit = min(limit, 100); len(page) > limit { // 100 plants have less than 1 MB
		return page[:limit], true, nil
	}
	return page, false, nil
}

// Delete implements [plants.Store].
func (m *Memory) Delete(ctx context.Context, owner string, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.callError(ctx); err != nil {
		return err
	}
	if m.byID[id].owner != owner {
		return plants.ErrNotFound
	}
	delete(m.byID, id)
	return nil
}

// callError returns the error of a call, or nil if it may succeed.
func (m *Memory) callError(ctx context.Context) error { return cmp.Or(m.Err, ctx.Err()) }
