package plantstest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/plants"
)

// The types of a store's methods, with the correct store as first parameter.
type (
	createFunc = func(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error
	listFunc   = func(m *Memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error)
	deleteFunc = func(m *Memory, ctx context.Context, owner string, id int64) error
)

// faulty is a Memory with some methods replaced, if not nil.
type faulty struct {
	memory *Memory
	create createFunc
	list   listFunc
	delete deleteFunc
}

func (f faulty) Create(ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	if f.create == nil {
		return f.memory.Create(ctx, owner, p, key)
	}
	return f.create(f.memory, ctx, owner, p, key)
}

func (f faulty) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	if f.list == nil {
		return f.memory.List(ctx, owner, q)
	}
	return f.list(f.memory, ctx, owner, q)
}

func (f faulty) Delete(ctx context.Context, owner string, id int64) error {
	if f.delete == nil {
		return f.memory.Delete(ctx, owner, id)
	}
	return f.delete(f.memory, ctx, owner, id)
}

// faults are stores that each violate the contract. Each key is the name of the
// subtest that must fail, with a suffix if there are several.
var faults = map[string]faulty{
	"fields/nil as zero":       stored(func(e *entry) { e.plant.Tag = cmp.Or(e.plant.Tag, new("")) }),
	"fields":                   stored(func(e *entry) { e.plant.Tag = nilIfEmpty(e.plant.Tag) }),
	"strings":                  stored(func(e *entry) { e.plant.Name = strings.TrimSpace(e.plant.Name) }),
	"strings/another field":    stored(func(e *entry) { e.plant.Tag = new(strings.TrimSpace(*e.plant.Tag)) }),
	"order":                    sorted(func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }),
	"order/float":              sorted(func(a, b int64) int { return cmp.Compare(float64(a), float64(b)) }),
	"order/last page":          paged(nothing, func(p *plants.Page) { p.Next = nil }),
	"order/skips an id":        paged(nothing, func(p *plants.Page) { p.Next = moved(p.Next, 1) }),
	"order/too long":           paged(func(q *plants.Query) { q.Limit = max(q.Limit, 2) }, nothing),
	"after":                    paged(func(q *plants.Query) { q.After = moved(q.After, -1) }, nothing),
	"after/needs a plant":      {list: listFromPlant},
	"isolation":                {delete: deleteOfAnyOwner},
	"odd owners":               owners(func(s string) string { return s[:min(len(s), 254)] }),
	"second create/retry":      stored(func(e *entry) { e.key = plants.NewIdempotencyKey() }),
	"second create":            {create: overwrite},
	"key per id":               {create: rememberKeys(map[string]bool{})},
	"second create/key reused": {create: hideReuse},
	"create after delete":      {create: rememberKeys(map[string]bool{})},
	"second create/same key of another owner": {create: func(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
		if old, _ := m.lookup(p.ID); old.key == key && old.plant.Same(p) {
			return nil
		}
		return m.Create(ctx, owner, p, key)
	}},
	"concurrent creates": {create: createInTwoSteps},
	"concurrent retries": {create: reserve},
	"concurrent deletes": {delete: deleteInTwoSteps},
	"ended contexts":     {create: ignoringContext},
}

func nothing[T any](T) {}

// lookup returns the plant with the given id, or a zero entry.
func (m *Memory) lookup(id int64) (e entry, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok = m.byID[id]
	return e, ok
}

func (m *Memory) replace(e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(e)
}

// sorted lists in another order.
func sorted(compare func(a, b int64) int) faulty {
	return faulty{list: func(m *Memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
		all, err := m.List(ctx, owner, plants.Query{Limit: 1 << 30})
		slices.SortStableFunc(all.Plants, func(a, b plants.Plant) int { return compare(a.ID, b.ID) })
		var page plants.Page
		for _, p := range all.Plants {
			if q.After == nil || compare(p.ID, *q.After) > 0 {
				page.Plants = append(page.Plants, p)
			}
		}
		if len(page.Plants) > q.Limit {
			page.Plants = page.Plants[:q.Limit]
			page.Next = &page.Plants[q.Limit-1].ID
		}
		return page, err
	}}
}

// paged changes the query or the page of each List.
func paged(before func(*plants.Query), after func(*plants.Page)) faulty {
	return faulty{list: func(m *Memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
		before(&q)
		page, err := m.List(ctx, owner, q)
		after(&page)
		return page, err
	}}
}

// stored changes what each Create stores.
func stored(change func(*entry)) faulty {
	return faulty{create: func(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
		e := entry{owner, p, key}
		change(&e)
		return m.Create(ctx, e.owner, e.plant, e.key)
	}}
}

// owners treats some owners as the same.
func owners(change func(string) string) faulty {
	f := stored(func(e *entry) { e.owner = change(e.owner) })
	f.list = func(m *Memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
		return m.List(ctx, change(owner), q)
	}
	f.delete = func(m *Memory, ctx context.Context, owner string, id int64) error {
		return m.Delete(ctx, change(owner), id)
	}
	return f
}

// hideReuse returns nil from Create instead of an error.
func hideReuse(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	if err := m.Create(ctx, owner, p, key); !errors.Is(err, plants.ErrKeyReused) {
		return err
	}
	return nil
}

func nilIfEmpty(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// moved returns the id by positions after the given one.
func moved(id *int64, by int64) *int64 {
	if id == nil {
		return nil
	}
	return new(*id + by)
}

// listFromPlant starts a page at the beginning if no plant has the id After.
func listFromPlant(m *Memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	if q.After != nil {
		if _, ok := m.lookup(*q.After); !ok {
			q.After = nil
		}
	}
	return m.List(ctx, owner, q)
}

func deleteOfAnyOwner(m *Memory, ctx context.Context, _ string, id int64) error {
	e, _ := m.lookup(id)
	return m.Delete(ctx, e.owner, id)
}

func overwrite(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	if old, _ := m.lookup(p.ID); old.owner == owner && old.key != key {
		m.replace(entry{owner, p, key})
	}
	return m.Create(ctx, owner, p, key)
}

// rememberKeys keeps keys longer than plants, and across ids.
func rememberKeys(done map[string]bool) createFunc {
	return func(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
		k := owner + string(key)
		if done[k] {
			return nil
		}
		done[k] = true
		return m.Create(ctx, owner, p, key)
	}
}

// overlap is long enough for concurrent calls to overlap.
const overlap = 20 * time.Millisecond

// reserve stores an empty plant first, and p later.
func reserve(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	if _, taken := m.lookup(p.ID); taken {
		return m.Create(ctx, owner, p, key)
	}
	m.replace(entry{owner: owner, plant: plants.Plant{ID: p.ID}})
	time.Sleep(overlap)
	m.replace(entry{owner, p, key})
	return nil
}

// createInTwoSteps checks first and stores later.
func createInTwoSteps(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	if _, taken := m.lookup(p.ID); taken {
		return m.Create(ctx, owner, p, key)
	}
	time.Sleep(overlap)
	m.replace(entry{owner, p, key})
	return ctx.Err()
}

func deleteInTwoSteps(m *Memory, ctx context.Context, owner string, id int64) error {
	old, _ := m.lookup(id)
	time.Sleep(overlap)
	if err := m.Delete(ctx, owner, id); err != nil && old.owner != owner {
		return err
	}
	return ctx.Err()
}

// ignoringContext creates the plant even if its context has ended.
func ignoringContext(m *Memory, ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	_ = m.Create(context.WithoutCancel(ctx), owner, p, key)
	return m.Create(ctx, owner, p, key)
}
