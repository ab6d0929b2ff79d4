package plantstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/plantstore/internal/plants"
)

// faulty is a memory with another way of doing some of the calls.
type faulty struct {
	*memory
	create func(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error
	list   func(m *memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error)
	delete func(m *memory, ctx context.Context, owner string, id int64) error
}

func (f faulty) Create(ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	if f.create == nil {
		return f.memory.Create(ctx, owner, p, token)
	}
	return f.create(f.memory, ctx, owner, p, token)
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

// sorted is a List in another order.
func sorted(compare func(a, b int64) int) faulty {
	return faulty{list: func(m *memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
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

// paged is a List that changes its query or its page.
func paged(before func(*plants.Query), after func(*plants.Page)) faulty {
	return faulty{list: func(m *memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
		before(&q)
		page, err := m.List(ctx, owner, q)
		after(&page)
		return page, err
	}}
}

// stored is a Create that changes what it stores.
func stored(change func(*entry)) faulty {
	return faulty{create: func(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
		e := entry{owner, p, token}
		change(&e)
		return m.Create(ctx, e.owner, e.plant, e.token)
	}}
}

// texts is a Create that changes names and tags.
func texts(change func(string) string) faulty {
	return stored(func(e *entry) {
		e.plant.Name = change(e.plant.Name)
		if e.plant.Tag != nil {
			e.plant.Tag = new(change(*e.plant.Tag))
		}
	})
}

// owners is a store that takes some owners for others.
func owners(change func(string) string) faulty {
	f := stored(func(e *entry) { e.owner = change(e.owner) })
	f.list = func(m *memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
		return m.List(ctx, change(owner), q)
	}
	f.delete = func(m *memory, ctx context.Context, owner string, id int64) error {
		return m.Delete(ctx, change(owner), id)
	}
	return f
}

// answers is a Create that gives other answers.
func answers(change func(old entry, p plants.Plant, token plants.WriteToken, err error) error) faulty {
	return faulty{create: func(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
		m.mu.Lock()
		old := m.byID[p.ID]
		m.mu.Unlock()
		return change(old, p, token, m.Create(ctx, owner, p, token))
	}}
}

func nothing[T any](T) {}

// faults are stores that each break one promise, by the subtest that finds out.
var faults = map[string]faulty{
	"empty":                   paged(nothing, func(p *plants.Page) { p.More = p.More || len(p.Plants) == 0 }),
	"order":                   sorted(func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }),
	"order/float":             sorted(func(a, b int64) int { return cmp.Compare(float64(a), float64(b)) }),
	"order/text":              sorted(func(a, b int64) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }),
	"pages":                   paged(nothing, func(p *plants.Page) { p.More = p.More && len(p.Plants) != 7 }),
	"pages/too long":          paged(func(q *plants.Query) { q.Limit = max(q.Limit, 2) }, nothing),
	"pages/overflow":          paged(func(q *plants.Query) { q.Limit = int(int32(q.Limit + 1)) }, nothing),
	"after":                   paged(func(q *plants.Query) { q.After = before(q.After) }, nothing),
	"delete under the cursor": {list: listFromCursor},
	"tags":                    stored(func(e *entry) { e.plant.Tag = cmp.Or(e.plant.Tag, new("")) }),
	"tags/absent":             stored(func(e *entry) { e.plant.Tag = unlessEmpty(e.plant.Tag) }),
	"strings":                 texts(func(s string) string { return strings.ReplaceAll(s, "\x00", "") }),
	"strings/trimmed":         texts(strings.TrimSpace),
	"strings/short":           texts(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 1000)], "") }),
	"strings/planes":          texts(basicPlane),
	"ids are one space": answers(func(_ entry, _ plants.Plant, _ plants.WriteToken, err error) error {
		return without(err, plants.ErrInUse)
	}),
	"isolation":         {delete: deleteAnyones},
	"odd owners":        owners(func(s string) string { return strings.TrimRight(s, "\x00") }),
	"odd owners/length": owners(func(s string) string { return s[:min(len(s), 254)] }),
	"odd owners/case":   owners(strings.ToLower),
	"in use":            {create: overwrite},
	"same token":        stored(func(e *entry) { e.token = plants.NewWriteToken() }),
	"token reused": answers(func(_ entry, _ plants.Plant, _ plants.WriteToken, err error) error {
		return without(err, plants.ErrTokenReused)
	}),
	"token after delete":             {create: rememberTokens(map[string]bool{})},
	"token of another owner":         answers(ownersToken),
	"token with another id":          {create: rememberTokens(map[string]bool{})},
	"concurrent creates":             {create: createInTwoSteps},
	"concurrent repeats":             {create: reserve},
	"concurrent deletes":             {delete: deleteInTwoSteps},
	"concurrent creates and deletes": {create: createInTwoSteps},
	"cancelled":                      {create: ignoring(context.Canceled)},
	"expired":                        {create: ignoring(context.DeadlineExceeded)},
}

// before returns the id before id, so that a page begins with its cursor.
func before(id *int64) *int64 {
	if id == nil {
		return nil
	}
	return new(*id - 1)
}

func unlessEmpty(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// basicPlane is what a database with three bytes for a character keeps of s.
func basicPlane(s string) string {
	return strings.Map(func(r rune) rune {
		if utf8.RuneLen(r) > 3 {
			return utf8.RuneError
		}
		return r
	}, s)
}

func without(err, hidden error) error {
	if errors.Is(err, hidden) {
		return nil
	}
	return err
}

// listFromCursor finds the place where a page begins by the plant there.
func listFromCursor(m *memory, ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	if q.After != nil {
		m.mu.Lock()
		_, ok := m.byID[*q.After]
		m.mu.Unlock()
		if !ok {
			q.After = nil
		}
	}
	return m.List(ctx, owner, q)
}

func deleteAnyones(m *memory, ctx context.Context, _ string, id int64) error {
	m.mu.Lock()
	owner := m.byID[id].owner
	m.mu.Unlock()
	return m.Delete(ctx, owner, id)
}

func overwrite(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	m.mu.Lock()
	if old := m.byID[p.ID]; old.owner == owner && old.token != token {
		delete(m.byID, p.ID)
	}
	m.mu.Unlock()
	return m.Create(ctx, owner, p, token)
}

// ownersToken takes a token for the request's, whoever made the plant.
func ownersToken(old entry, p plants.Plant, token plants.WriteToken, err error) error {
	if old.token == token && old.plant.Same(p) {
		return nil
	}
	return err
}

// rememberTokens keeps tokens longer than plants.
func rememberTokens(done map[string]bool) func(*memory, context.Context, string, plants.Plant, plants.WriteToken) error {
	return func(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
		m.mu.Lock()
		known := done[owner+string(token)]
		done[owner+string(token)] = true
		m.mu.Unlock()
		if known {
			return nil
		}
		return m.Create(ctx, owner, p, token)
	}
}

// moment is long enough for calls that come at once to meet.
const moment = 20 * time.Millisecond

// reserve takes the id first and writes the plant later.
func reserve(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	m.mu.Lock()
	_, taken := m.byID[p.ID]
	if !taken {
		m.byID[p.ID] = entry{owner: owner}
	}
	m.mu.Unlock()
	if taken {
		return m.Create(ctx, owner, p, token)
	}
	time.Sleep(moment)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byID[p.ID] = entry{owner, p, token}
	return nil
}

// createInTwoSteps looks first and writes later.
func createInTwoSteps(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	m.mu.Lock()
	_, taken := m.byID[p.ID]
	m.mu.Unlock()
	if taken {
		return m.Create(ctx, owner, p, token)
	}
	time.Sleep(moment)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byID[p.ID] = entry{owner, p, token}
	return ctx.Err()
}

func deleteInTwoSteps(m *memory, ctx context.Context, owner string, id int64) error {
	m.mu.Lock()
	old := m.byID[id]
	m.mu.Unlock()
	time.Sleep(moment)
	if err := m.Delete(ctx, owner, id); err != nil && old.owner != owner {
		return err
	}
	return ctx.Err()
}

// ignoring creates also when its context has ended in the given way.
func ignoring(end error) func(*memory, context.Context, string, plants.Plant, plants.WriteToken) error {
	return func(m *memory, ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
		if ctx.Err() == end {
			_ = m.Create(context.WithoutCancel(ctx), owner, p, token)
		}
		return m.Create(ctx, owner, p, token)
	}
}
