package plantstest

import (
	"cmp"
	"context"
	"strings"

	"example.com/plantstore/internal/plants"
)

// The types of a store's methods, with the correct store as first parameter.
type (
	createFunc = func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error
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

func (f faulty) Create(ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
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
	"second create/retry":        stored(func(e *entry) { e.token = plants.NewWriteToken() }),
	"second create":              {create: overwrite},
	"token per id":               {create: rememberTokens(map[string]bool{})},
	"second create/token reused": {create: hideReuse},
	"create after delete":        {create: rememberTokens(map[string]bool{})},
	"second create/same token of another owner": {create: func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
		if old, _ := m.lookup(p.ID); old.token == token && old.plant.Same(p) {
			return nil
		}
		return m.Create(ctx, owner, p, token)
	}},
	"concurrent creates": {create: createInTwoSteps},
	"concurrent retries": {create: reserve},
	"concurrent deletes": {delete: deleteInTwoSteps},
	"ended contexts":     {create: ignoringContext},
}
