package plantstest

import (
	"math"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// Ids are in numeric order over the whole range of int64, not in the order of
// unsigned integers, floating-point numbers or text. Lists of any length together
// contain every plant exactly once.
func testOrder(t testing.TB, s suite) {
	const owner = "plantstest-order" // fixed, to delete what an earlier run left behind
	ids := []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1<<32 - 1, -256, -10, -9, -1,
		0, 1, 9, 10, 255, 256, 1<<31 - 1, 1 << 31, 1 << 53, 1<<53 + 1, 1<<53 + 2, math.MaxInt64 - 1, math.MaxInt64,
	}
	var want []plants.Plant
	for i, id := range ids {
		_ = s.store.Delete(t.Context(), owner, id)
		want = append(want, nthExample(id, i))
	}
	middle := len(want) / 2 // so that they are created in neither ascending nor descending order
	s.create(t, owner, want[middle:]...)
	s.create(t, owner, want[:middle]...)
	for _, limit := range []int{1, 2, 7, len(want) - 1, len(want), len(want) + 1, math.MaxInt32, math.MaxInt} {
		s.wantList(t, owner, limit, want...)
	}
}

// A list can start after any id, whether or not a plant has it: the plant with that
// id may have been deleted since.
func testAfter(t testing.TB, s suite) {
	owner, all := randomOwner(), randomPlants(4)
	s.create(t, owner, all...)
	for i, p := range all { // whose ids are 3 apart
		s.wantListAfter(t, owner, new(p.ID-1), 2, all[i:]...)
		s.wantListAfter(t, owner, new(p.ID), 2, all[i+1:]...)
		s.wantListAfter(t, owner, new(p.ID+1), 2, all[i+1:]...)
	}
	s.wantListAfter(t, owner, new(int64(math.MinInt64)), 2, all...)
	s.wantListAfter(t, owner, new(int64(math.MaxInt64)), 2)
}

// The texts of a page have at most 1 MB, and those of these plants have more. All plants are listed.
func testLarge(t testing.TB, s suite) {
	large := Example(0)
	large.Name = strings.Repeat("\U0001f331", plants.MaxNameLength)
	large.Tag = &large.Name
	owner, all := randomOwner(), randomPlants(1+1<<20/(2*len(large.Name)))
	for i, p := range all {
		all[i] = large
		all[i].ID = p.ID
	}
	s.create(t, owner, all...)
	s.wantList(t, owner, math.MaxInt32, all...)
	if page, _, err := s.store.List(t.Context(), owner, nil, math.MaxInt32); err != nil || len(page) == len(all) {
		t.Errorf("%T: %d plants with more than 1 MB on one page, %v", s.store, len(page), err)
	}
}
