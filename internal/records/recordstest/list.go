package recordstest

import (
	"math"
	"testing"

	"example.com/plantstore/internal/records"
)

// Ids are in numeric order over the whole range of int64, not in the order of
// unsigned integers, floating-point numbers or text. The pages of any size
// together contain every record exactly once.
func testOrder[T records.Fields](t testing.TB, s suite[T]) {
	const owner = "recordstest-order" // fixed, to delete what an earlier run left behind
	ids := []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1<<32 - 1, -256, -10, -9, -1,
		0, 1, 9, 10, 255, 256, 1<<31 - 1, 1 << 31, 1 << 53, 1<<53 + 1, 1<<53 + 2, math.MaxInt64 - 1, math.MaxInt64,
	}
	var want []records.Record[T]
	for i, id := range ids {
		_ = s.store.Delete(t.Context(), owner, id)
		want = append(want, s.record(id, i))
	}
	middle := len(want) / 2 // so that they are created in neither ascending nor descending order
	s.create(t, owner, want[middle:]...)
	s.create(t, owner, want[:middle]...)
	for _, limit := range []int{1, 2, 7, len(want) - 1, len(want), len(want) + 1, math.MaxInt32, math.MaxInt} {
		s.has(t, owner, nil, limit, want...)
	}
}

// A page can start after any id, whether or not a record has it: the record at a
// cursor may have been deleted since.
func testAfter[T records.Fields](t testing.TB, s suite[T]) {
	owner, all := randomOwner(), s.randomRecords(4)
	s.create(t, owner, all...)
	// From just before the first id to the last. The ids are 3 apart, so all records have
	// greater ids for i = 0, all but one for i = 1 to 3, all but two for i = 4 to 6.
	for i := range int64(11) {
		s.has(t, owner, new(all[0].ID-1+i), 2, all[(i+2)/3:]...)
	}
	s.has(t, owner, new(int64(math.MinInt64)), 2, all...)
	s.has(t, owner, new(int64(math.MaxInt64)), 2)
}
