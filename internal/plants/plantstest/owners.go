package plantstest

import (
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// An id that one owner uses is in use for all, until its plant is deleted.
func testOneSpace(t *testing.T, s suite) {
	alice, bob, p := randomOwner(), randomOwner(), randomPlant()
	other := plants.Plant{ID: p.ID, Name: "bob's"}
	s.create(t, alice, p)
	if err := is(s.Create(t.Context(), bob, other, plants.NewWriteToken()), plants.ErrInUse); err != nil {
		t.Errorf("create of an id that another owner uses: %v", err)
	}
	s.has(t, alice, nil, 10, p)
	s.has(t, bob, nil, 10)
	s.delete(t, alice, p.ID)
	s.create(t, bob, other)
	s.has(t, alice, nil, 10)
	s.has(t, bob, nil, 10, other)
}

// No owner sees or deletes another's plants.
func testIsolation(t *testing.T, s suite) {
	alice, bob := randomOwner(), randomOwner()
	all := randomPlants(6)
	// Every other one, so that bob's lie between alice's.
	for i, p := range all {
		s.create(t, []string{alice, bob}[i%2], p)
	}
	s.has(t, alice, nil, 2, all[0], all[2], all[4])
	s.has(t, bob, nil, 2, all[1], all[3], all[5])
	s.has(t, bob, &all[2].ID, 2, all[3], all[5])
	if err := is(s.Delete(t.Context(), bob, all[0].ID), plants.ErrNotFound); err != nil {
		t.Errorf("delete of another owner's plant: %v", err)
	}
	if err := is(s.Delete(t.Context(), bob, randomID()), plants.ErrNotFound); err != nil {
		t.Errorf("delete of a plant that nobody has: %v", err)
	}
	s.delete(t, alice, all[0].ID) // it is still there
	s.has(t, bob, nil, 2, all[1], all[3], all[5])
}

// Any 1 to 255 bytes of UTF-8 are an owner, apart from all others, among them
// those that they are the beginning of.
func testOddOwners(t *testing.T, s suite) {
	base := randomOwner()
	long := base + strings.Repeat("x", 255-len(base))
	owners := []string{
		base, base + "a", base + "ab", base + "b", base + "A", base + "\x00", base + "\x00\x00", base + "a\x00",
		base + " ", " " + base, "\x00" + base, base + "/", base + "#", base + "|a", base + "\uffff", base + "\U0010ffff",
		base + "é", base + "e\u0301",
		long, long[:254], long[:254] + "y", base + strings.Repeat("\x00", 255-len(base)),
	}
	all := randomPlants(2 * len(owners))
	for i, p := range all {
		s.create(t, owners[i%len(owners)], p)
	}
	for i, owner := range owners {
		s.has(t, owner, nil, 1, all[i], all[i+len(owners)])
		if err := is(s.Delete(t.Context(), owner, all[(i+1)%len(owners)].ID), plants.ErrNotFound); err != nil {
			t.Errorf("delete by %q of another owner's plant: %v", owner, err)
		}
	}
}
