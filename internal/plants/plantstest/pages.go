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
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got, err := s.read(t.Context(), owner, plants.Query{After: after, Limit: limit})
		if err == nil {
			if err = compare(got, want); err == nil {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%T, after %v: %v", s.Store, patience, err)
		}
	}
}

// compare returns the first difference between two lists.
func compare(got, want []plants.Plant) error {
	for i := range min(len(got), len(want)) {
		if d := Difference(got[i], want[i]); d != "" {
			return fmt.Errorf("plant %d of the list: %s; if this field is lost, make the store's Create write it and its List read it", i, d)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("the list has %d plants, want %d", len(got), len(want))
	}
	return nil
}

// read returns all plants that q selects, in pages of q.Limit. Each page must
// meet the contract of [plants.Page].
func (s suite) read(ctx context.Context, owner string, q plants.Query) ([]plants.Plant, error) {
	var all []plants.Plant
	for {
		page, err := s.List(ctx, owner, q)
		if n := len(page.Plants); err == nil && (n > q.Limit || n == 0 && page.More) {
			err = fmt.Errorf("got %d plants, with More %t", n, page.More)
		}
		if err != nil {
			return nil, fmt.Errorf("List(%q, %s): %w", owner, show(q), err)
		}
		for _, p := range page.Plants {
			if q.After != nil && p.ID <= *q.After {
				return nil, fmt.Errorf("List(%q): got id %d after id %d", owner, p.ID, *q.After)
			}
			all, q.After = append(all, p), &p.ID
		}
		if !page.More {
			return all, nil
		}
	}
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
