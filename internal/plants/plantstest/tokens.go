package plantstest

import (
	"testing"

	"example.com/plantstore/internal/plants"
)

// mustAnswer fails the test unless a create has the given answer.
func (s suite) mustAnswer(t *testing.T, want error, owner string, p plants.Plant, token plants.WriteToken) {
	t.Helper()
	if err := is(s.Create(t.Context(), owner, p, token), want); err != nil {
		t.Fatalf("Create(%q, %s): %v", owner, show(p), err)
	}
}

// variants returns plants of p's id that are not the same as p, which has a tag.
func variants(p plants.Plant) []plants.Plant {
	return []plants.Plant{
		{ID: p.ID, Name: p.Name + "x", Tag: p.Tag},
		{ID: p.ID, Name: p.Name, Tag: new(*p.Tag + "x")},
		{ID: p.ID, Name: p.Name, Tag: new("")},
		{ID: p.ID, Name: p.Name},
	}
}

// A second create of an id with another token is refused, also to the owner of
// the plant, and also if it would make the same plant.
func testInUse(t *testing.T, s suite) {
	owner, p := randomOwner(), randomPlant()
	s.create(t, owner, p)
	for _, second := range append(variants(p), p) {
		s.mustAnswer(t, plants.ErrInUse, owner, second, plants.NewWriteToken())
	}
	s.has(t, owner, nil, 10, p)
}

// The same create once more, with the same token, succeeds and changes nothing.
func testSameToken(t *testing.T, s suite) {
	owner, all := randomOwner(), randomPlants(3)
	all[1].Tag, all[2].Tag = nil, new("")
	for _, p := range all {
		token := plants.NewWriteToken()
		s.createWith(t, owner, p, token)
		for range 2 {
			s.mustAnswer(t, nil, owner, p, token)
		}
	}
	s.has(t, owner, nil, 10, all...)
}

// A token that made a plant makes no other one of the same id.
func testTokenReused(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(), plants.NewWriteToken()
	s.createWith(t, owner, p, token)
	for _, other := range variants(p) {
		s.mustAnswer(t, plants.ErrTokenReused, owner, other, token)
	}
	s.mustAnswer(t, nil, owner, p, token)
	s.has(t, owner, nil, 10, p)
}

// After a delete the same token makes the plant anew, as it was or otherwise.
func testTokenAfterDelete(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(), plants.NewWriteToken()
	for _, again := range append(variants(p), p) {
		s.createWith(t, owner, again, token)
		s.has(t, owner, nil, 10, again)
		s.delete(t, owner, p.ID)
		if err := is(s.Delete(t.Context(), owner, p.ID), plants.ErrNotFound); err != nil {
			t.Errorf("second delete: %v", err)
		}
	}
	s.has(t, owner, nil, 10)
}

// A token says nothing of another owner's plant: the id is in use.
func testTokenOfAnotherOwner(t *testing.T, s suite) {
	alice, bob, p, token := randomOwner(), randomOwner(), randomPlant(), plants.NewWriteToken()
	s.createWith(t, alice, p, token)
	for _, other := range append(variants(p), p) {
		s.mustAnswer(t, plants.ErrInUse, bob, other, token)
	}
	s.has(t, alice, nil, 10, p)
	s.has(t, bob, nil, 10)
}

// A create of another id is one of its own, whatever its token.
func testTokenWithAnotherID(t *testing.T, s suite) {
	owner, all, token := randomOwner(), randomPlants(3), plants.NewWriteToken()
	for _, p := range all {
		s.createWith(t, owner, p, token)
	}
	s.has(t, owner, nil, 10, all...)
	s.delete(t, owner, all[1].ID)
	s.mustAnswer(t, nil, owner, all[2], token)
	s.has(t, owner, nil, 10, all[0], all[2])
}
