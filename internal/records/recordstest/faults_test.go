package recordstest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/records"
)

// The types of a store's methods, with the correct store as first parameter.
type (
	createFunc = func(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error
	listFunc   = func(m *Memory[Sample], ctx context.Context, owner string, q records.Query) (records.Page[Sample], error)
	deleteFunc = func(m *Memory[Sample], ctx context.Context, owner string, id int64) error
)

// faulty is a Memory with some methods replaced, if not nil.
type faulty struct {
	memory *Memory[Sample]
	create createFunc
	list   listFunc
	delete deleteFunc
}

func (f faulty) Create(ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
	if f.create == nil {
		return f.memory.Create(ctx, owner, r, key)
	}
	return f.create(f.memory, ctx, owner, r, key)
}

func (f faulty) List(ctx context.Context, owner string, q records.Query) (records.Page[Sample], error) {
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
	"fields/nil as zero":       stored(func(e *entry[Sample]) { e.record.Fields.Note = cmp.Or(e.record.Fields.Note, new("")) }),
	"fields":                   stored(func(e *entry[Sample]) { e.record.Fields.Note = nilIfEmpty(e.record.Fields.Note) }),
	"strings":                  stored(func(e *entry[Sample]) { e.record.Fields.Name = strings.TrimSpace(e.record.Fields.Name) }),
	"strings/another field":    stored(func(e *entry[Sample]) { e.record.Fields.Note = new(strings.TrimSpace(*e.record.Fields.Note)) }),
	"order":                    sorted(func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }),
	"order/float":              sorted(func(a, b int64) int { return cmp.Compare(float64(a), float64(b)) }),
	"order/last page":          paged(nothing, func(p *records.Page[Sample]) { p.Next = nil }),
	"order/skips an id":        paged(nothing, func(p *records.Page[Sample]) { p.Next = moved(p.Next, 1) }),
	"order/too long":           paged(func(q *records.Query) { q.Limit = max(q.Limit, 2) }, nothing),
	"after":                    paged(func(q *records.Query) { q.After = moved(q.After, -1) }, nothing),
	"after/needs a record":     {list: listFromRecord},
	"isolation":                {delete: deleteOfAnyOwner},
	"odd owners":               owners(func(s string) string { return s[:min(len(s), 254)] }),
	"second create/retry":      stored(func(e *entry[Sample]) { e.key = records.NewIdempotencyKey() }),
	"second create":            {create: overwrite},
	"key per id":               {create: rememberKeys(map[string]bool{})},
	"second create/key reused": {create: hideReuse},
	"create after delete":      {create: rememberKeys(map[string]bool{})},
	"second create/same key of another owner": {create: func(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
		if old, _ := m.lookup(r.ID); old.key == key && reflect.DeepEqual(old.record, r) {
			return nil
		}
		return m.Create(ctx, owner, r, key)
	}},
	"concurrent creates": {create: createInTwoSteps},
	"concurrent retries": {create: reserve},
	"concurrent deletes": {delete: deleteInTwoSteps},
	"ended contexts":     {create: ignoringContext},
}

func nothing[T any](T) {}

// lookup returns the record with the given id, or a zero entry.
func (m *Memory[Sample]) lookup(id int64) (e entry[Sample], ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok = m.byID[id]
	return e, ok
}

func (m *Memory[Sample]) replace(e entry[Sample]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(e)
}

// sorted lists in another order.
func sorted(compare func(a, b int64) int) faulty {
	return faulty{list: func(m *Memory[Sample], ctx context.Context, owner string, q records.Query) (records.Page[Sample], error) {
		all, err := m.List(ctx, owner, records.Query{Limit: 1 << 30})
		slices.SortStableFunc(all.Records, func(a, b records.Record[Sample]) int { return compare(a.ID, b.ID) })
		var page records.Page[Sample]
		for _, r := range all.Records {
			if q.After == nil || compare(r.ID, *q.After) > 0 {
				page.Records = append(page.Records, r)
			}
		}
		if len(page.Records) > q.Limit {
			page.Records = page.Records[:q.Limit]
			page.Next = &page.Records[q.Limit-1].ID
		}
		return page, err
	}}
}

// paged changes the query or the page of each List.
func paged(before func(*records.Query), after func(*records.Page[Sample])) faulty {
	return faulty{list: func(m *Memory[Sample], ctx context.Context, owner string, q records.Query) (records.Page[Sample], error) {
		before(&q)
		page, err := m.List(ctx, owner, q)
		after(&page)
		return page, err
	}}
}

// stored changes what each Create stores.
func stored(change func(*entry[Sample])) faulty {
	return faulty{create: func(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
		e := entry[Sample]{owner: owner, record: r, key: key}
		change(&e)
		return m.Create(ctx, e.owner, e.record, e.key)
	}}
}

// owners treats some owners as the same.
func owners(change func(string) string) faulty {
	f := stored(func(e *entry[Sample]) { e.owner = change(e.owner) })
	f.list = func(m *Memory[Sample], ctx context.Context, owner string, q records.Query) (records.Page[Sample], error) {
		return m.List(ctx, change(owner), q)
	}
	f.delete = func(m *Memory[Sample], ctx context.Context, owner string, id int64) error {
		return m.Delete(ctx, change(owner), id)
	}
	return f
}

// hideReuse returns nil from Create instead of an error.
func hideReuse(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
	if err := m.Create(ctx, owner, r, key); !errors.Is(err, records.ErrKeyReused) {
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

// listFromRecord starts a page at the beginning if no record has the id After.
func listFromRecord(m *Memory[Sample], ctx context.Context, owner string, q records.Query) (records.Page[Sample], error) {
	if q.After != nil {
		if _, ok := m.lookup(*q.After); !ok {
			q.After = nil
		}
	}
	return m.List(ctx, owner, q)
}

func deleteOfAnyOwner(m *Memory[Sample], ctx context.Context, _ string, id int64) error {
	e, _ := m.lookup(id)
	return m.Delete(ctx, e.owner, id)
}

func overwrite(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
	if old, _ := m.lookup(r.ID); old.owner == owner && old.key != key {
		m.replace(entry[Sample]{owner: owner, record: r, key: key})
	}
	return m.Create(ctx, owner, r, key)
}

// rememberKeys keeps keys longer than records, and across ids.
func rememberKeys(done map[string]bool) createFunc {
	return func(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
		k := owner + string(key)
		if done[k] {
			return nil
		}
		done[k] = true
		return m.Create(ctx, owner, r, key)
	}
}

// overlap is long enough for concurrent calls to overlap.
const overlap = 20 * time.Millisecond

// reserve stores an empty record first, and r later.
func reserve(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
	if _, taken := m.lookup(r.ID); taken {
		return m.Create(ctx, owner, r, key)
	}
	m.replace(entry[Sample]{owner: owner, record: records.Record[Sample]{ID: r.ID}})
	time.Sleep(overlap)
	m.replace(entry[Sample]{owner: owner, record: r, key: key})
	return nil
}

// createInTwoSteps checks first and stores later.
func createInTwoSteps(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
	if _, taken := m.lookup(r.ID); taken {
		return m.Create(ctx, owner, r, key)
	}
	time.Sleep(overlap)
	m.replace(entry[Sample]{owner: owner, record: r, key: key})
	return ctx.Err()
}

func deleteInTwoSteps(m *Memory[Sample], ctx context.Context, owner string, id int64) error {
	old, _ := m.lookup(id)
	time.Sleep(overlap)
	if err := m.Delete(ctx, owner, id); err != nil && old.owner != owner {
		return err
	}
	return ctx.Err()
}

// ignoringContext creates the record even if its context has ended.
func ignoringContext(m *Memory[Sample], ctx context.Context, owner string, r records.Record[Sample], key records.IdempotencyKey) error {
	_ = m.Create(context.WithoutCancel(ctx), owner, r, key)
	return m.Create(ctx, owner, r, key)
}
