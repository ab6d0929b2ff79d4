package plantstest

import (
	"testing"

	"example.com/plantstore/internal/plants"
)

// A second Create of an id with another token fails, even for the same owner
// and the same plant.
func testInUse(t *testing.T, s suite) {
	owner, p := randomOwner(), randomPlant(t)
	s.create(t, owner, p)
	for _, second := range append(Variants(t, p), p) {
		s.wantCreate(t, plants.ErrInUse, owner, second, plants.NewWriteToken())
	}
	s.has(t, owner, nil, 10, p)
}

// A retry with the same token succeeds and changes nothing. With another id the
// same token creates another plant.
func testSameToken(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(t), plants.NewWriteToken()
	all := append(Variants(t, p), p)
	for i := range all {
		all[i].ID = p.ID + int64(i)
		s.createWith(t, owner, all[i], token)
		for range 2 {
			s.wantCreate(t, nil, owner, all[i], token)
		}
	}
	s.has(t, owner, nil, 10, all...)
}

// A token that created a plant can't create a different one with the same id.
func testTokenReused(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(t), plants.NewWriteToken()
	s.createWith(t, owner, p, token)
	for _, other := range Variants(t, p) {
		s.wantCreate(t, plants.ErrTokenReused, owner, other, token)
	}
	s.wantCreate(t, nil, owner, p, token)
	s.has(t, owner, nil, 10, p)
}

// After a Delete the same token can create the plant again, the same or not.
func testTokenAfterDelete(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(t), plants.NewWriteToken()
	for _, again := range append(Variants(t, p), p) {
		s.createWith(t, owner, again, token)
		s.has(t, owner, nil, 10, again)
		s.wantDelete(t, nil, owner, p.ID)
		s.wantDelete(t, plants.ErrNotFound, owner, p.ID)
	}
	s.has(t, owner, nil, 10)
}

// While one owner uses an id, every Create of another owner with that id fails,
// whatever its token.
func testTokenOfAnotherOwner(t *testing.T, s suite) {
	alice, bob, p, token := randomOwner(), randomOwner(), randomPlant(t), plants.NewWriteToken()
	s.createWith(t, alice, p, token)
	for _, other := range append(Variants(t, p), p) {
		s.wantCreate(t, plants.ErrInUse, bob, other, token)
		s.wantCreate(t, plants.ErrInUse, bob, other, plants.NewWriteToken())
	}
	s.has(t, alice, nil, 10, p)
	s.has(t, bob, nil, 10)
	s.wantDelete(t, nil, alice, p.ID)
	s.create(t, bob, p)
	s.has(t, alice, nil, 10)
	s.has(t, bob, nil, 10, p)
}
