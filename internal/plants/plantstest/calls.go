package plantstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// concurrently makes 50 concurrent calls and returns their errors.
func concurrently(call func(i int) error) []error {
	errs := make([]error, 50)
	start := make(chan struct{})
	var calls sync.WaitGroup
	for i := range errs {
		calls.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	calls.Wait()
	return errs
}

// onlyOne returns the index of the only nil error. It fails the test unless all
// others match want.
func onlyOne(t *testing.T, errs []error, want error) int {
	t.Helper()
	winner := slices.Index(errs, nil)
	for i, err := range errs {
		if err := matches(err, want); i != winner && err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("no call succeeded")
	}
	return winner
}

// Of concurrent creates of one id by several owners, exactly one succeeds, and
// its plant is stored.
func testConcurrentCreates(t *testing.T, s suite) {
	owners, p := []string{randomOwner(), randomOwner(), randomOwner()}, randomPlant(t)
	for _, owner := range owners {
		s.deleteLater(t, owner, p.ID)
	}
	named := func(i int) plants.Plant {
		p := p
		p.Name = fmt.Sprint("caller ", i)
		return p
	}
	winner := onlyOne(t, concurrently(func(i int) error {
		return s.Create(t.Context(), owners[i%len(owners)], named(i), plants.NewIdempotencyKey())
	}), plants.ErrInUse)
	for i, owner := range owners {
		if i == winner%len(owners) {
			s.has(t, owner, nil, 10, named(winner))
		} else {
			s.has(t, owner, nil, 10)
		}
	}
}

// Concurrent creates with the same token are one request: all succeed and
// create one plant.
func testConcurrentRetries(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(t), plants.NewIdempotencyKey()
	s.deleteLater(t, owner, p.ID)
	for i, err := range concurrently(func(int) error { return s.Create(t.Context(), owner, p, token) }) {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	s.has(t, owner, nil, 10, p)
}

// Of concurrent deletes of one plant, exactly one succeeds.
func testConcurrentDeletes(t *testing.T, s suite) {
	owner, all := randomOwner(), randomPlants(t, 2)
	for _, p := range all {
		s.create(t, owner, p)
	}
	onlyOne(t, concurrently(func(int) error { return s.Delete(t.Context(), owner, all[0].ID) }), plants.ErrNotFound)
	s.has(t, owner, nil, 10, all[1])
}

// A call whose context is already canceled or past its deadline has no effect.
func testEndedContexts(t *testing.T, s suite) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, ctx := range []context.Context{canceled, expired} {
		owner, all := randomOwner(), randomPlants(t, 2)
		stored, free := all[0], all[1]
		s.create(t, owner, stored)
		s.deleteLater(t, owner, free.ID)
		_, err := s.List(ctx, owner, plants.Query{Limit: 10})
		for call, err := range map[string]error{
			"Create": s.Create(ctx, owner, free, plants.NewIdempotencyKey()),
			"Delete": s.Delete(ctx, owner, stored.ID),
			"List":   err,
		} {
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("%s: error %v, want %v", call, err, ctx.Err())
			}
		}
		s.has(t, owner, nil, 10, stored)
		// List may be stale; Create is not.
		s.wantCreate(t, plants.ErrInUse, owner, stored, plants.NewIdempotencyKey())
		s.wantCreate(t, nil, owner, free, plants.NewIdempotencyKey())
	}
}
