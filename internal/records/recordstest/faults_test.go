package recordstest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/records"
)

type (
	memory = Memory[Sample]
	record = records.Record[Sample]
	page   = records.Page[Sample]
	token  = records.WriteToken
)

// faults are stores that each violate one promise of the contract. Each promise has one.
var faults = []struct {
	promise, fault string
	store          records.Store[Sample]
}{
	{"fields", "stores nil as empty", changed{new(memory), func(e *entry[Sample]) { e.record.Fields.Note = cmp.Or(e.record.Fields.Note, new("")) }}},
	{"fields", "trims strings", changed{new(memory), func(e *entry[Sample]) { e.record.Fields.Name = strings.TrimSpace(e.record.Fields.Name) }}},
	{"order", "lists in descending order", paged{new(memory), func(_ *records.Query, p *page) { slices.Reverse(p.Records) }}},
	{"order", "returns pages over the limit", paged{new(memory), func(q *records.Query, _ *page) { q.Limit = max(q.Limit, 2) }}},
	{"order", "ends after the first page", paged{new(memory), func(_ *records.Query, p *page) { p.Next = nil }}},
	{"order", "lists pages without end", neverEnds{new(memory)}},
	{"after", "lists from the start", paged{new(memory), func(q *records.Query, _ *page) { q.After = nil }}},
	{"isolation", "deletes the records of others", deletesForAll{new(memory)}},
	{"isolation", "cuts off long owners", changed{new(memory), func(e *entry[Sample]) { e.owner = e.owner[:min(len(e.owner), 254)] }}},
	{"second create", "replaces a record", overwrites{new(memory)}},
	{"second create", "lists a record that nobody created", paged{new(memory), func(_ *records.Query, p *page) { p.Records = append(p.Records, record{}) }}},
	{"create after delete", "remembers keys of deleted records", remembersKeys{new(memory), map[string]bool{}}},
	{"concurrent creates", "checks first and stores later", createsInTwoSteps{new(memory)}},
	{"concurrent retries", "doesn't store the token", changed{new(memory), func(e *entry[Sample]) { e.token = records.NewWriteToken() }}},
	{"concurrent deletes", "checks first and deletes later", deletesInTwoSteps{new(memory)}},
	{"ended contexts", "creates despite an ended context", ignoresContext{new(memory)}},
	{"ended contexts", "lists despite an ended context", listsWithoutContext{new(memory)}},
}

// lookup returns the record with the given id, or a zero entry.
func (m *Memory[T]) lookup(id int64) (e entry[T], ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok = m.byID[id]
	return e, ok
}

func (m *Memory[T]) replace(e entry[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(e)
}

// changed changes what each Create stores.
type changed struct {
	*memory
	change func(*entry[Sample])
}

func (s changed) Create(ctx context.Context, owner string, r record, k token) error {
	e := entry[Sample]{owner: owner, record: r, token: k}
	s.change(&e)
	return s.memory.Create(ctx, e.owner, e.record, e.token)
}

// paged changes the query or the page of each List.
type paged struct {
	*memory
	change func(*records.Query, *page)
}

func (s paged) List(ctx context.Context, owner string, q records.Query) (page, error) {
	s.change(&q, new(page))
	p, err := s.memory.List(ctx, owner, q)
	s.change(new(records.Query), &p)
	return p, err
}

type deletesForAll struct{ *memory }

func (s deletesForAll) Delete(ctx context.Context, _ string, id int64) error {
	e, _ := s.lookup(id)
	return s.memory.Delete(ctx, e.owner, id)
}

// overwrites replaces a record of the same owner that has another token.
type overwrites struct{ *memory }

func (s overwrites) Create(ctx context.Context, owner string, r record, k token) error {
	if old, _ := s.lookup(r.ID); old.owner == owner && old.token != k {
		s.replace(entry[Sample]{owner: owner, record: r, token: k})
	}
	return s.memory.Create(ctx, owner, r, k)
}

// remembersKeys keeps keys longer than records, and across ids.
type remembersKeys struct {
	*memory
	done map[string]bool
}

func (s remembersKeys) Create(ctx context.Context, owner string, r record, k token) error {
	call := owner + string(k)
	if s.done[call] {
		return nil
	}
	s.done[call] = true
	return s.memory.Create(ctx, owner, r, k)
}

// overlap waits until all concurrent calls wait, which they do in a bubble of synctest.
func overlap() { time.Sleep(time.Millisecond) }

type createsInTwoSteps struct{ *memory }

func (s createsInTwoSteps) Create(ctx context.Context, owner string, r record, k token) error {
	if _, taken := s.lookup(r.ID); taken {
		return s.memory.Create(ctx, owner, r, k)
	}
	overlap()
	s.replace(entry[Sample]{owner: owner, record: r, token: k})
	return ctx.Err()
}

type deletesInTwoSteps struct{ *memory }

func (s deletesInTwoSteps) Delete(ctx context.Context, owner string, id int64) error {
	old, _ := s.lookup(id)
	overlap()
	if err := s.memory.Delete(ctx, owner, id); err != nil && old.owner != owner {
		return err
	}
	return ctx.Err()
}

// ignoresContext creates the record even if its context has ended.
type ignoresContext struct{ *memory }

func (s ignoresContext) Create(ctx context.Context, owner string, r record, k token) error {
	_ = s.memory.Create(context.WithoutCancel(ctx), owner, r, k)
	return s.memory.Create(ctx, owner, r, k)
}

type listsWithoutContext struct{ *memory }

func (s listsWithoutContext) List(ctx context.Context, owner string, q records.Query) (page, error) {
	return s.memory.List(context.WithoutCancel(ctx), owner, q)
}

// neverEnds returns empty pages, each with a Next. In a bubble of synctest, time passes
// only while it sleeps.
type neverEnds struct{ *memory }

func (neverEnds) List(_ context.Context, _ string, q records.Query) (page, error) {
	time.Sleep(time.Second)
	next := int64(math.MinInt64)
	if q.After != nil {
		next = *q.After + 1
	}
	return page{Next: &next}, nil
}
