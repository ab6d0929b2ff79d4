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
	createFunc = func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error
	listFunc   = func(m *Memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error)
	deleteFunc = func(m *Memory, ctx context.Context, owner string, id int64) error
)

// faulty is a Memory with some methods replaced, if not nil.
type faulty struct {
	*Memory
	create createFunc
	list   listFunc
	delete deleteFunc
}

func (f faulty) Create(ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	if f.create == nil {
		return f.Memory.Create(ctx, owner, p, token)
	}
	return f.create(f.Memory, ctx, owner, p, token)
}

func (f faulty) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	if f.list == nil {
		return f.Memory.List(ctx, owner, q)
	}
	return f.list(f.Memory, ctx, owner, q)
}

func (f faulty) Delete(ctx context.Context, owner string, id int64) error {
	if f.delete == nil {
		return f.Memory.Delete(ctx, owner, id)
	}
	return f.delete(f.Memory, ctx, owner, id)
}

// faults are stores that each violate the contract. Each key is the name of the
// subtest that must fail, with a suffix if there are several.
var faults = map[string]faulty{
	"fields/nil as zero":         stored(func(e *entry) { e.plant.Tag = cmp.Or(e.plant.Tag, new("")) }),
	"fields":                     stored(func(e *entry) { e.plant.Tag = nilIfEmpty(e.plant.Tag) }),
	"strings":                    texts(strings.TrimSpace),
	"order":                      sorted(func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }),
	"order/float":                sorted(func(a, b int64) int { return cmp.Compare(float64(a), float64(b)) }),
	"order/last page":            paged(nothing, func(p *plants.Page) { p.More = p.More && len(p.Plants) != 7 }),
	"order/too long":             paged(func(q *plants.Query) { q.Limit = max(q.Limit, 2) }, nothing),
	"after":                      paged(func(q *plants.Query) { q.After = decremented(q.After) }, nothing),
	"after/needs a plant":        {list: listFromPlant},
	"isolation":                  {delete: deleteOfAnyOwner},
	"odd owners":                 owners(func(s string) string { return s[:min(len(s), 254)] }),
	"second create/retry":        stored(func(e *entry) { e.key = plants.NewIdempotencyKey() }),
	"second create":              {create: overwrite},
	"key per id":                 {create: rememberTokens(map[string]bool{})},
	"second create/token reused": {create: hideReuse},
	"create after delete":        {create: rememberTokens(map[string]bool{})},
	"second create/same token of another owner": {create: func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
		if old, _ := m.lookup(p.ID); old.key == token && old.plant.Same(p) {
			return nil
		}
		return m.Create(ctx, owner, p, token)
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
			page.Plants, page.More = page.Plants[:q.Limit], true
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
	return faulty{create: func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
		e := entry{owner, p, token}
		change(&e)
		return m.Create(ctx, e.owner, e.plant, e.key)
	}}
}

// texts changes the names and tags that Create stores.
func texts(change func(string) string) faulty {
	return stored(func(e *entry) {
		e.plant.Name = change(e.plant.Name)
		if e.plant.Tag != nil {
			e.plant.Tag = new(change(*e.plant.Tag))
		}
	})
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
func hideReuse(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	if err := m.Create(ctx, owner, p, token); !errors.Is(err, plants.ErrKeyReused) {
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

func decremented(id *int64) *int64 {
	if id == nil {
		return nil
	}
	return new(*id - 1)
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

func overwrite(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	if old, _ := m.lookup(p.ID); old.owner == owner && old.key != token {
		m.replace(entry{owner, p, token})
	}
	return m.Create(ctx, owner, p, token)
}

// rememberTokens keeps tokens longer than plants, and across ids.
func rememberTokens(done map[string]bool) createFunc {
	return func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
		key := owner + string(token)
		if done[key] {
			return nil
		}
		done[key] = true
		return m.Create(ctx, owner, p, token)
	}
}

// overlap is long enough for concurrent calls to overlap.
const overlap = 20 * time.Millisecond

// reserve stores an empty plant first, and p later.
func reserve(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	if _, taken := m.lookup(p.ID); taken {
		return m.Create(ctx, owner, p, token)
	}
	m.replace(entry{owner: owner, plant: plants.Plant{ID: p.ID}})
	time.Sleep(overlap)
	m.replace(entry{owner, p, token})
	return nil
}

// createInTwoSteps checks first and stores later.
func createInTwoSteps(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	if _, taken := m.lookup(p.ID); taken {
		return m.Create(ctx, owner, p, token)
	}
	time.Sleep(overlap)
	m.replace(entry{owner, p, token})
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
func ignoringContext(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.IdempotencyKey) error {
	_ = m.Create(context.WithoutCancel(ctx), owner, p, token)
	return m.Create(ctx, owner, p, token)
}
