package plantstest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// patience is how long an eventually consistent List may take to settle.
var patience = 10 * time.Second

// has requires that owner's plants after the given id, read in pages of limit,
// are want or become want within patience.
func (s suite) has(t *testing.T, owner string, after *int64, limit int, want ...plants.Plant) {
	t.Helper()
	s.settles(t, func(ctx context.Context) error {
		got, err := s.read(ctx, owner, after, limit)
		for i := range min(len(got), len(want)) {
			if d := Difference(got[i], want[i]); d != "" {
				return fmt.Errorf("plant %d of the list: %s", i, d)
			}
		}
		if err == nil && len(got) != len(want) {
			err = fmt.Errorf("the list has %d plants, want %d", len(got), len(want))
		}
		return err
	})
}

// settles calls check until it returns nil, and ends the test if it still fails
// after patience.
func (s suite) settles(t *testing.T, check func(context.Context) error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := check(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}

// read returns the plants after the given id, read in pages of limit.
func (s suite) read(ctx context.Context, owner string, after *int64, limit int) ([]plants.Plant, error) {
	var all []plants.Plant
	for {
		page, err := s.page(ctx, owner, plants.Query{After: after, Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Plants...)
		if !page.More {
			return all, nil
		}
		after = &page.Plants[len(page.Plants)-1].ID
	}
}

// page returns one page, or an error if it violates q, its order or the
// contract of [plants.Page].
func (s suite) page(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	query := fmt.Sprintf("List(%q, limit %d)", owner, q.Limit)
	if q.After != nil {
		query = fmt.Sprintf("List(%q, limit %d after %d)", owner, q.Limit, *q.After)
	}
	page, err := s.List(ctx, owner, q)
	if err != nil {
		return page, fmt.Errorf("%s: %w", query, err)
	}
	if n := len(page.Plants); n > q.Limit {
		return page, fmt.Errorf("%s: got %d plants", query, n)
	}
	if page.More && len(page.Plants) == 0 {
		return page, fmt.Errorf("%s: got an empty page with More set", query)
	}
	last := q.After
	for _, p := range page.Plants {
		if last != nil && p.ID <= *last {
			return page, fmt.Errorf("%s: got id %d after id %d", query, p.ID, *last)
		}
		last = &p.ID
	}
	return page, nil
}

// randomOwner returns an owner that no other test uses.
func randomOwner() string { return "plantstest-" + strconv.FormatUint(rand.Uint64(), 36) }

// randomID returns an id that no other test uses, nor those next to it.
func randomID() int64 { return rand.Int64N(1<<62) - 1<<61 }

func randomPlant(t *testing.T) plants.Plant { return Plant(t, randomID()) }

// randomPlants returns n plants in ascending order of their ids.
func randomPlants(t *testing.T, n int) []plants.Plant {
	all := make([]plants.Plant, n)
	for i := range all {
		all[i] = randomPlant(t)
	}
	slices.SortFunc(all, func(a, b plants.Plant) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
