package plantstest

import (
	"fmt"
	"sync"
	"testing"

	"example.com/plantstore/internal/plants"
)

// callers is how many calls come at once.
const callers = 50

// atOnce makes calls at one time and returns their errors.
func atOnce(call func(i int) error) []error {
	errs := make([]error, callers)
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

// onlyOne returns the one index of errs without an error. It fails the test
// unless all others are want.
func onlyOne(t *testing.T, errs []error, want error) int {
	t.Helper()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Fatalf("calls %d and %d both succeeded", winner, i)
		case is(err, want) != nil:
			t.Fatalf("call %d: error %v, want %v", i, err, want)
		}
	}
	if winner < 0 {
		t.Fatal("no call succeeded")
	}
	return winner
}

// Of concurrent creates of one id, by several owners, exactly one succeeds, and
// its plant is what is stored.
func testConcurrentCreates(t *testing.T, s suite) {
	owners, id := []string{randomOwner(), randomOwner(), randomOwner()}, randomID()
	for _, owner := range owners {
		s.deleteLater(t, owner, id)
	}
	plant := func(i int) plants.Plant { return plants.Plant{ID: id, Name: fmt.Sprint("caller ", i)} }
	winner := onlyOne(t, atOnce(func(i int) error {
		return s.Create(t.Context(), owners[i%len(owners)], plant(i), plants.NewWriteToken())
	}), plants.ErrInUse)
	for i, owner := range owners {
		if i == winner%len(owners) {
			s.has(t, owner, nil, 10, plant(winner))
		} else {
			s.has(t, owner, nil, 10)
		}
	}
}

// Concurrent creates with one token are one request: all succeed, and make one
// plant.
func testConcurrentRepeats(t *testing.T, s suite) {
	owner, p, token := randomOwner(), randomPlant(), plants.NewWriteToken()
	s.deleteLater(t, owner, p.ID)
	for i, err := range atOnce(func(int) error { return s.Create(t.Context(), owner, p, token) }) {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	s.has(t, owner, nil, 10, p)
}

// Of concurrent deletes of one plant exactly one succeeds.
func testConcurrentDeletes(t *testing.T, s suite) {
	owner, all := randomOwner(), randomPlants(2)
	for _, p := range all {
		s.create(t, owner, p)
	}
	onlyOne(t, atOnce(func(int) error { return s.Delete(t.Context(), owner, all[0].ID) }), plants.ErrNotFound)
	s.has(t, owner, nil, 10, all[1])
}

// Where creates and deletes of one id meet, their answers tell of one order of
// events: creates that succeed are one more than deletes if the plant is there
// in the end, and as many if it isn't.
func testConcurrentCreatesAndDeletes(t *testing.T, s suite) {
	owner, p := randomOwner(), randomPlant()
	s.deleteLater(t, owner, p.ID)
	errs := atOnce(func(i int) error {
		if i%2 == 0 {
			return s.Create(t.Context(), owner, p, plants.NewWriteToken())
		}
		return s.Delete(t.Context(), owner, p.ID)
	})
	count := 0
	for i, err := range errs {
		want, step := plants.ErrInUse, 1
		if i%2 == 1 {
			want, step = plants.ErrNotFound, -1
		}
		switch {
		case err == nil:
			count += step
		case is(err, want) != nil:
			t.Fatalf("call %d: error %v, want %v", i, err, want)
		}
	}
	switch count {
	case 0:
		s.has(t, owner, nil, 10)
	case 1:
		s.has(t, owner, nil, 10, p)
	default:
		t.Errorf("%d more creates than deletes succeeded", count)
	}
}
