package plantstest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"example.com/plantstore/internal/plants"
)

// memory is a store that keeps every promise but to outlive the process.
type memory struct {
	mu   sync.Mutex
	byID map[int64]entry
}

type entry struct {
	owner string
	plant plants.Plant
	token plants.WriteToken
}

func newMemory() *memory { return &memory{byID: map[int64]entry{}} }

func (m *memory) Create(ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, taken := m.byID[p.ID]
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !taken:
		m.byID[p.ID] = entry{owner, p, token}
		return nil
	case old.owner != owner || old.token != token:
		return plants.ErrInUse
	case !old.plant.Same(p):
		return plants.ErrTokenReused
	}
	return nil
}

func (m *memory) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return plants.Page{}, ctx.Err()
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

func (m *memory) Delete(ctx context.Context, owner string, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.byID[id].owner != owner {
		return plants.ErrNotFound
	}
	delete(m.byID, id)
	return nil
}
