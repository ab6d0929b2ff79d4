package plantstest

import (
	"testing"

	"example.com/plantstore/internal/plants"
)

// A second Create of an id changes nothing. It succeeds only as a retry: by the
// same owner, with the same token and the same plant.
func testSecondCreate(t *testing.T, s suite) {
	alice, bob, p, token := randomOwner(), randomOwner(), randomPlant(t), plants.NewWriteToken()
	s.createWith(t, alice, p, token)
	for _, other := range Variants(t, p) {
		s.wantCreate(t, plants.ErrTokenReused, alice, other, token)
	}
	for _, other := range append(Variants(t, p), p) {
		s.wantCreate(t, plants.ErrInUse, alice, other, plants.NewWriteToken())
		s.wantCreate(t, plants.ErrInUse, bob, other, plants.NewWriteToken())
		s.wantCreate(t, plants.ErrInUse, bob, other, token)
	}
	s.wantCreate(t, nil, alice, p, token)
	s.has(t, alice, nil, 10, p)
	s.has(t, bob, nil, 10)
}

// The same token creates another plant with another id.
func testTokenPerID(t *testing.T, s suite) {
	owner, all, token := randomOwner(), randomPlants(t, 2), plants.NewWriteToken()
	for _, p := range all {
		s.createWith(t, owner, p, token)
	}
	s.has(t, owner, nil, 10, all...)
}

// After a Delete the same token can create the plant again, the same or not. So
// can another owner.
func testCreateAfterDelete(t *testing.T, s suite) {
	alice, bob, p, token := randomOwner(), randomOwner(), randomPlant(t), plants.NewWriteToken()
	for _, again := range append(Variants(t, p), p) {
		s.createWith(t, alice, again, token)
		s.has(t, alice, nil, 10, again)
		s.wantDelete(t, nil, alice, p.ID)
		s.wantDelete(t, plants.ErrNotFound, alice, p.ID)
	}
	s.create(t, bob, p)
	s.has(t, alice, nil, 10)
	s.has(t, bob, nil, 10, p)
}
