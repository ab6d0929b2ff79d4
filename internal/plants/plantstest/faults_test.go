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

// faults are stores that each violate one promise of the contract. There is at least one
// for each promise.
var faults = []struct {
	promise, fault string
	store          plants.Store
}{
	{"fields", "stores nil as empty", changed{new(Memory), func(o *owned) { o.plant.Tag = cmp.Or(o.plant.Tag, new("")) }}},
	{"fields", "trims strings", changed{new(Memory), func(o *owned) { o.plant.Name = strings.TrimSpace(o.plant.Name) }}},
	{"fields", "lists another id", lists{new(Memory), nil, func(p *page) { p.plants[0].ID++ }}},
	{"order", "lists in descending order", lists{new(Memory), nil, func(p *page) { slices.Reverse(p.plants) }}},
	{"order", "returns more than the limit", lists{new(Memory), func(q *query) { q.limit = max(q.limit, 2) }, nil}},
	{"order", "ends early", lists{new(Memory), nil, func(p *page) { *p = page{p.plants[:min(len(p.plants), 5)], false} }}},
	{"order", "returns no plants, and more", lists{new(Memory), nil, func(p *page) { p.plants = nil }}},
	{"order", "says more after the last plants", lists{new(Memory), nil, func(p *page) { p.more = len(p.plants) > 0 }}},
	{"after", "lists from the start", lists{new(Memory), func(q *query) { q.after = nil }, nil}},
	{"large", "ends a page early as if it were the last", lists{new(Memory), nil, func(p *page) {
		*p = page{p.plants[:min(len(p.plants), 100)], false}
	}}},
	{"large", "lists everything on one page", listsAll{new(Memory)}},
	{"isolation", "deletes the plants of others", deletesForAll{new(Memory)}},
	{"isolation", "cuts off long owners", changed{new(Memory), func(o *owned) {
		o.owner = o.owner[:min(len(o.owner), 254)]
	}}},
	{"second create", "replaces a plant", overwrites{new(Memory)}},
	{"second create", "lists a plant that nobody created",
		lists{new(Memory), nil, func(p *page) { p.plants = append(p.plants, plants.Plant{}) }}},
	{"create after delete", "remembers deleted plants", remembersIDs{new(Memory), map[string]bool{}}},
	{"concurrent creates", "checks first and stores later", createsInTwoSteps{new(Memory)}},
	{"concurrent retries", "refuses a retry", refusesRetries{new(Memory)}},
	{"concurrent deletes", "fails deletes that overlap", deletesInTwoSteps{new(Memory), errors.New("conflict"), nil}},
	{"concurrent deletes", "finds no plant if deletes overlap",
		deletesInTwoSteps{new(Memory), plants.ErrNotFound, plants.ErrNotFound}},
	{"concurrent deletes", "deletes nothing", keepsPlants{new(Memory)}},
	{"ended contexts", "creates despite an ended context", ignoresContext{new(Memory)}},
	{"ended contexts", "lists despite an ended context", listsWithoutContext{new(Memory)}},
}

// lookup returns the plant with the given id, or a zero value.
func (m *Memory) lookup(id int64) (o owned, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok = m.byID[id]
	return o, ok
}

func (m *Memory) replace(o owned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(o)
}

// changed changes what each Create stores.
type changed struct {
	*Memory
	change func(*owned)
}

func (s changed) Create(ctx context.Context, owner string, p plants.Plant) error {
	o := owned{owner, p}
	s.change(&o)
	return s.Memory.Create(ctx, o.owner, o.plant)
}

// lists changes the query or the result of each List.
type lists struct {
	*Memory
	query  func(*query)
	result func(*page)
}

type query struct {
	after *int64
	limit int
}

type page struct {
	plants []plants.Plant
	more   bool
}

func (s lists) List(ctx context.Context, owner string, after *int64, limit int) ([]plants.Plant, bool, error) {
	q := query{after, limit}
	if s.query != nil {
		s.query(&q)
	}
	list, more, err := s.Memory.List(ctx, owner, q.after, q.limit)
	p := page{list, more}
	if s.result != nil {
		s.result(&p)
	}
	return p.plants, p.more, err
}

// listsAll fills a page up to the limit, whatever its size.
type listsAll struct{ *Memory }

func (s listsAll) List(ctx context.Context, owner string, after *int64, limit int) ([]plants.Plant, bool, error) {
	page, more, err := s.Memory.List(ctx, owner, after, limit)
	if !more || len(page) == limit {
		return page, more, err
	}
	rest, more, err := s.List(ctx, owner, &page[len(page)-1].ID, limit-len(page))
	return append(page, rest...), more, err
}

type deletesForAll struct{ *Memory }

func (s deletesForAll) Delete(ctx context.Context, _ string, id int64) error {
	o, _ := s.lookup(id)
	return s.Memory.Delete(ctx, o.owner, id)
}

// overwrites replaces a plant of the same owner.
type overwrites struct{ *Memory }

func (s overwrites) Create(ctx context.Context, owner string, p plants.Plant) error {
	if old, _ := s.lookup(p.ID); old.owner == owner {
		s.replace(owned{owner, p})
	}
	return s.Memory.Create(ctx, owner, p)
}

// remembersIDs mistakes a repeated create for a retry, even after a delete.
type remembersIDs struct {
	*Memory
	done map[string]bool
}

func (s remembersIDs) Create(ctx context.Context, owner string, p plants.Plant) error {
	call := owner + show(p)
	if s.done[call] {
		return nil
	}
	s.done[call] = true
	return s.Memory.Create(ctx, owner, p)
}

// overlap waits until all concurrent calls wait here. That requires a synctest bubble.
func overlap() { time.Sleep(time.Millisecond) }

type createsInTwoSteps struct{ *Memory }

func (s createsInTwoSteps) Create(ctx context.Context, owner string, p plants.Plant) error {
	if _, taken := s.lookup(p.ID); taken {
		return s.Memory.Create(ctx, owner, p)
	}
	overlap()
	s.replace(owned{owner, p})
	return ctx.Err()
}

type refusesRetries struct{ *Memory }

func (s refusesRetries) Create(ctx context.Context, owner string, p plants.Plant) error {
	if _, taken := s.lookup(p.ID); taken {
		return plants.ErrExists
	}
	return s.Memory.Create(ctx, owner, p)
}

// deletesInTwoSteps checks first and deletes later. Then one call deletes the plant.
type deletesInTwoSteps struct {
	*Memory
	others, first error // what the calls return
}

func (s deletesInTwoSteps) Delete(ctx context.Context, owner string, id int64) error {
	old, _ := s.lookup(id)
	overlap()
	err := s.Memory.Delete(ctx, owner, id)
	if err != nil && old.owner == owner {
		return s.others
	}
	return cmp.Or(err, s.first)
}

type keepsPlants struct{ *Memory }

func (keepsPlants) Delete(ctx context.Context, _ string, _ int64) error { return ctx.Err() }

// ignoresContext creates the plant even if its context has ended.
type ignoresContext struct{ *Memory }

func (s ignoresContext) Create(ctx context.Context, owner string, p plants.Plant) error {
	_ = s.Memory.Create(context.WithoutCancel(ctx), owner, p)
	return s.Memory.Create(ctx, owner, p)
}

type listsWithoutContext struct{ *Memory }

func (s listsWithoutContext) List(ctx context.Context, owner string, after *int64, limit int) (
	[]plants.Plant, bool, error,
) {
	return s.Memory.List(context.WithoutCancel(ctx), owner, after, limit)
}
