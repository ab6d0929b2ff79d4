package plantstest

import (
	"cmp"
	"context"
	"fmt"
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
	"fields":                         stored(func(e *entry) { e.plant.Tag = nil }),
	"fields/nil as zero":             stored(func(e *entry) { e.plant.Tag = cmp.Or(e.plant.Tag, new("")) }),
	"fields/zero as nil":             stored(func(e *entry) { e.plant.Tag = nilIfEmpty(e.plant.Tag) }),
	"strings":                        texts(func(s string) string { return strings.ReplaceAll(s, "\x00", "") }),
	"strings/trimmed":                texts(strings.TrimSpace),
	"strings/short":                  texts(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 1000)], "") }),
	"strings/planes":                 texts(basicPlane),
	"create after delete/empty page": paged(nothing, func(p *plants.Page) { p.More = p.More || len(p.Plants) == 0 }),
	"order":                          sorted(func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }),
	"order/float":                    sorted(func(a, b int64) int { return cmp.Compare(float64(a), float64(b)) }),
	"order/text":                     sorted(func(a, b int64) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }),
	"order/last page":                paged(nothing, func(p *plants.Page) { p.More = p.More && len(p.Plants) != 7 }),
	"order/too long":                 paged(func(q *plants.Query) { q.Limit = max(q.Limit, 2) }, nothing),
	"order/overflow":                 paged(func(q *plants.Query) { q.Limit = int(int32(q.Limit + 1)) }, nothing),
	"after":                          paged(func(q *plants.Query) { q.After = decremented(q.After) }, nothing),
	"after/needs a plant":            {list: listFromPlant},
	"isolation":                      {delete: deleteOfAnyOwner},
	"odd owners":                     owners(func(s string) string { return strings.TrimRight(s, "\x00") }),
	"odd owners/length":              owners(func(s string) string { return s[:min(len(s), 254)] }),
	"odd owners/case":                owners(strings.ToLower),
	"second create":                  {create: overwrite},
	"second create/retry":            stored(func(e *entry) { e.token = plants.NewWriteToken() }),
	"token per id":                   {create: rememberTokens(map[string]bool{})},
	"second create/token reused":     {create: hiding(plants.ErrTokenReused)},
	"create after delete":            {create: rememberTokens(map[string]bool{})},
	"second create/same token of another owner": {create: func(m *Memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
		if old, _ := m.lookup(p.ID); old.token == token && old.plant.Same(p) {
			return nil
		}
		return m.Create(ctx, owner, p, token)
	}},
	"second create/in use":   {create: hiding(plants.ErrInUse)},
	"concurrent creates":     {create: createInTwoSteps},
	"concurrent retries":     {create: reserve},
	"concurrent deletes":     {delete: deleteInTwoSteps},
	"ended contexts":         {create: ignoring(context.Canceled)},
	"ended contexts/expired": {create: ignoring(context.DeadlineExceeded)},
}
