package plantstest

import (
	"math"
	"slices"
	"testing"

	"example.com/plantstore/internal/plants"
)

// An owner without plants has an empty page, and so has one whose last plant
// was deleted.
func testEmpty(t *testing.T, s suite) {
	owner, p := randomOwner(), randomPlant()
	page, err := s.page(t.Context(), owner, plants.Query{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Plants) > 0 || page.More {
		t.Errorf("a new owner has %d plants, more: %t", len(page.Plants), page.More)
	}
	s.create(t, owner, p)
	s.has(t, owner, nil, 10, p)
	s.delete(t, owner, p.ID)
	s.has(t, owner, nil, 10)
	s.has(t, owner, new(int64(math.MinInt64)), 10)
}

// Ids are in exact order over the whole range of int64: not as unsigned
// numbers, floating-point numbers or text.
func testOrder(t *testing.T, s suite) {
	const owner = "plantstest-order" // the same each time, to find what an interrupted run left
	ids := []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1<<32 - 1, -256, -10, -9, -1,
		0, 1, 9, 10, 255, 256, 1<<31 - 1, 1 << 31, 1 << 53, 1<<53 + 1, 1<<53 + 2, math.MaxInt64 - 1, math.MaxInt64,
	}
	var want []plants.Plant
	for _, id := range ids {
		_ = s.Delete(t.Context(), owner, id) // there is none but after an interrupted run
		want = append(want, plants.Plant{ID: id, Name: "name"})
	}
	// From the middle outwards: neither the order of the ids nor its reverse.
	for i := range want {
		middle := len(want)/2 + i
		s.create(t, owner, want[middle%len(want)])
	}
	s.has(t, owner, nil, len(want)+1, want...)
	s.has(t, owner, nil, 1, want...)
	s.has(t, owner, new(int64(math.MinInt64)), 3, want[1:]...)
	s.has(t, owner, new(int64(-1)), 3, want[slices.Index(ids, 0):]...)
	s.has(t, owner, new(int64(1<<53)), 3, want[slices.Index(ids, 1<<53+1):]...)
	s.has(t, owner, new(int64(math.MaxInt64-1)), 3, want[len(want)-1])
	s.has(t, owner, new(int64(math.MaxInt64)), 3)
}

// Pages of any size together give everything exactly once.
func testPages(t *testing.T, s suite) {
	owner, want := randomOwner(), randomPlants(14)
	for _, i := range []int{3, 0, 13, 7, 1, 12, 4, 9, 2, 11, 5, 10, 6, 8} {
		s.create(t, owner, want[i])
	}
	for _, limit := range []int{1, 2, 3, 7, 13, 14, 15, math.MaxInt32, math.MaxInt} {
		s.has(t, owner, nil, limit, want...)
	}
}

// A page begins after any id, whether or not a plant has it.
func testAfter(t *testing.T, s suite) {
	owner, first := randomOwner(), randomID()
	var all []plants.Plant
	for i := range int64(4) {
		all = append(all, plants.Plant{ID: first + 3*i, Name: "name"})
		s.create(t, owner, all[i])
	}
	for id := first - 1; id <= first+10; id++ {
		i := slices.IndexFunc(all, func(p plants.Plant) bool { return p.ID > id })
		if i < 0 {
			i = len(all)
		}
		s.has(t, owner, &id, 2, all[i:]...)
	}
	s.has(t, owner, new(int64(math.MinInt64)), 2, all...)
	s.has(t, owner, new(int64(math.MaxInt64)), 2)
}

// A page can follow a plant that is gone, and neither repeats nor leaves out
// another.
func testDeleteUnderCursor(t *testing.T, s suite) {
	owner, all := randomOwner(), randomPlants(8)
	for _, p := range all {
		s.create(t, owner, p)
	}
	s.has(t, owner, nil, 2, all...)
	cursor := all[1].ID // where a first page of two ends
	s.delete(t, owner, cursor)
	s.has(t, owner, &cursor, 2, all[2:]...)
	s.delete(t, owner, all[0].ID) // before the cursor
	s.delete(t, owner, all[2].ID) // right after it
	s.delete(t, owner, all[5].ID) // further on
	s.has(t, owner, &cursor, 2, all[3], all[4], all[6], all[7])
	for _, p := range []plants.Plant{all[3], all[4], all[6], all[7]} {
		s.delete(t, owner, p.ID)
	}
	s.has(t, owner, &cursor, 2)
}
