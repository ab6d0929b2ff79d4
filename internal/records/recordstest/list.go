package recordstest

import (
	"math"
	"strings"
	"testing"

	"example.com/plantstore/internal/records"
)

// Ids are in numeric order over the whole range of int64, not in the order of
// unsigned integers, floating-point numbers or text. The pages of any size
// together contain every record exactly once.
func testOrder[T records.Fields](t *testing.T, s suite[T]) {
	const owner = "recordstest-order" // fixed, to delete what an interrupted run left behind
	ids := []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1<<32 - 1, -256, -10, -9, -1,
		0, 1, 9, 10, 255, 256, 1<<31 - 1, 1 << 31, 1 << 53, 1<<53 + 1, 1<<53 + 2, math.MaxInt64 - 1, math.MaxInt64,
	}
	var want []records.Record[T]
	for _, id := range ids {
		_ = s.store.Delete(t.Context(), owner, id)
		want = append(want, New[T](t, id))
	}
	// Create them from the middle on, so in neither ascending nor descending order.
	for i := range want {
		middle := len(want)/2 + i
		s.create(t, owner, want[middle%len(want)])
	}
	for _, limit := range []int{1, 2, 7, len(want) - 1, len(want), len(want) + 1, math.MaxInt32, math.MaxInt} {
		s.has(t, owner, nil, limit, want...)
	}
}

// A page can start after any id, whether or not a record has it: the record at a
// cursor may have been deleted since.
func testAfter[T records.Fields](t *testing.T, s suite[T]) {
	owner, all := randomOwner(), randomRecords[T](t, 4)
	for _, r := range all {
		s.create(t, owner, r)
	}
	for i := range int64(11) { // from just before the first id to the last
		s.has(t, owner, new(all[0].ID-1+i), 2, all[(i+2)/3:]...)
	}
	s.has(t, owner, new(int64(math.MinInt64)), 2, all...)
	s.has(t, owner, new(int64(math.MaxInt64)), 2)
}

// Owners are any 1 to 255 bytes of UTF-8. They are compared byte by byte, and
// one may be a prefix of another.
func testOddOwners[T records.Fields](t *testing.T, s suite[T]) {
	base := randomOwner()
	long := base + strings.Repeat("x", 255-len(base))
	owners := []string{
		base, base + "a", base + "ab", base + "b", base + "A", base + "\x00", base + "\x00\x00", base + "a\x00",
		base + " ", " " + base, "\x00" + base, base + "/", base + "#", base + "|a", base + "\uffff", base + "\U0010ffff",
		base + "é", base + "e\u0301",
		long, long[:254], long[:254] + "y", base + strings.Repeat("\x00", 255-len(base)),
	}
	all := randomRecords[T](t, 2*len(owners))
	for i, r := range all {
		s.create(t, owners[i%len(owners)], r)
	}
	for i, owner := range owners {
		s.has(t, owner, nil, 1, all[i], all[i+len(owners)])
		s.wantDelete(t, records.ErrNotFound, owner, all[(i+1)%len(owners)].ID)
	}
}
