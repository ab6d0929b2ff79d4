package plantstest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// Ids are in numeric order over the whole range of int64, not in the order of
// unsigned integers, floating-point numbers or text. The pages of any size
// together contain every plant exactly once.
func testOrder(t *testing.T, s suite) {
	const owner = "plantstest-order" // fixed, to delete what an interrupted run left behind
	ids := []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1<<32 - 1, -256, -10, -9, -1,
		0, 1, 9, 10, 255, 256, 1<<31 - 1, 1 << 31, 1 << 53, 1<<53 + 1, 1<<53 + 2, math.MaxInt64 - 1, math.MaxInt64,
	}
	var want []plants.Plant
	for _, id := range ids {
		_ = s.Delete(t.Context(), owner, id)
		want = append(want, Plant(t, id))
	}
	// Create them from the middle on, so in neither ascending nor descending order.
	for i := range want {
		middle := len(want)/2 + i
		s.create(t, owner, want[middle%len(want)])
	}
	for _, limit := range []int{1, 2, 7, len(want) - 1, len(want), len(want) + 1, math.MaxInt32, math.MaxInt} {
		s.has(t, owner, nil, limit, want...)
	}
	s.has(t, owner, new(int64(math.MinInt64)), 3, want[1:]...)
	s.has(t, owner, new(int64(-1)), 3, want[slices.Index(ids, 0):]...)
	s.has(t, owner, new(int64(1<<53)), 3, want[slices.Index(ids, 1<<53+1):]...)
	s.has(t, owner, new(int64(math.MaxInt64-1)), 3, want[len(want)-1])
	s.has(t, owner, new(int64(math.MaxInt64)), 3)
}

// A page can start after any id, whether or not a plant has it: the plant at a
// cursor may have been deleted since.
func testAfter(t *testing.T, s suite) {
	owner, first := randomOwner(), randomID()
	var all []plants.Plant
	for i := range int64(4) {
		all = append(all, Plant(t, first+3*i))
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

// No owner lists or deletes another owner's plants.
func testIsolation(t *testing.T, s suite) {
	alice, bob := randomOwner(), randomOwner()
	all := randomPlants(t, 6)
	for i, p := range all { // bob's ids lie between alice's
		s.create(t, []string{alice, bob}[i%2], p)
	}
	s.has(t, alice, nil, 2, all[0], all[2], all[4])
	s.has(t, bob, nil, 2, all[1], all[3], all[5])
	s.has(t, bob, &all[2].ID, 2, all[3], all[5])
	s.wantDelete(t, plants.ErrNotFound, bob, all[0].ID)
	s.wantDelete(t, plants.ErrNotFound, bob, randomID())
	s.wantDelete(t, nil, alice, all[0].ID) // still there
	s.has(t, bob, nil, 2, all[1], all[3], all[5])
}

// Owners are any 1 to 255 bytes of UTF-8. They are compared byte by byte, and
// one may be a prefix of another.
func testOddOwners(t *testing.T, s suite) {
	base := randomOwner()
	long := base + strings.Repeat("x", 255-len(base))
	owners := []string{
		base, base + "a", base + "ab", base + "b", base + "A", base + "\x00", base + "\x00\x00", base + "a\x00",
		base + " ", " " + base, "\x00" + base, base + "/", base + "#", base + "|a", base + "\uffff", base + "\U0010ffff",
		base + "é", base + "e\u0301",
		long, long[:254], long[:254] + "y", base + strings.Repeat("\x00", 255-len(base)),
	}
	all := randomPlants(t, 2*len(owners))
	for i, p := range all {
		s.create(t, owners[i%len(owners)], p)
	}
	for i, owner := range owners {
		s.has(t, owner, nil, 1, all[i], all[i+len(owners)])
		s.wantDelete(t, plants.ErrNotFound, owner, all[(i+1)%len(owners)].ID)
	}
}
