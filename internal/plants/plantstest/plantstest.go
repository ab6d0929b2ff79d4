// Package plantstest tests implementations of [plants.Store], and provides
// plants with every field set.
package plantstest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"example.com/plantstore/internal/plants"
)

// TestStore runs a subtest for each promise of the [plants.Store] contract, on
// the store that open returns. open may return the same store each time, and
// the store may hold other plants: owners and ids are random, and each subtest
// deletes the plants that it created.
//
// Only "order" uses fixed ids, the extremes of int64. It fails if another owner
// has them, so concurrent runs must not share a store. It deletes plants that
// an interrupted run left behind.
//
// A store whose List is eventually consistent has 10 seconds to settle.
func TestStore(t *testing.T, open func(t *testing.T) plants.Store) {
	for _, promise := range promises {
		passed := t.Run(promise.name, func(t *testing.T) {
			promise.test(t, suite{open(t)})
		})
		if !passed && promise.name == "fields" {
			t.Fatal("skipping the other tests, which all depend on fields being stored")
		}
	}
}

var promises = []struct {
	name string
	test func(*testing.T, suite)
}{
	{"fields", testFields},
	{"strings", testStrings},
	{"order", testOrder},
	{"after", testAfter},
	{"isolation", testIsolation},
	{"odd owners", testOddOwners},
	{"second create", testSecondCreate},
	{"key per id", testKeyPerID},
	{"create after delete", testCreateAfterDelete},
	{"concurrent creates", testConcurrentCreates},
	{"concurrent retries", testConcurrentRetries},
	{"concurrent deletes", testConcurrentDeletes},
	{"ended contexts", testEndedContexts},
}

// A suite is the store under test. Its methods end the test if the store fails.
type suite struct{ plants.Store }

// create creates p with a new token, and deletes it when the test ends.
func (s suite) create(t *testing.T, owner string, p plants.Plant) {
	t.Helper()
	s.createWith(t, owner, p, plants.NewIdempotencyKey())
}

func (s suite) createWith(t *testing.T, owner string, p plants.Plant, token plants.IdempotencyKey) {
	t.Helper()
	s.deleteLater(t, owner, p.ID)
	s.wantCreate(t, nil, owner, p, token)
}

// wantCreate requires Create to return want.
func (s suite) wantCreate(t *testing.T, want error, owner string, p plants.Plant, token plants.IdempotencyKey) {
	t.Helper()
	if err := matches(s.Create(t.Context(), owner, p, token), want); err != nil {
		t.Fatalf("Create(%q, %s): %v", owner, show(p), err)
	}
}

// wantDelete requires Delete to return want.
func (s suite) wantDelete(t *testing.T, want error, owner string, id int64) {
	t.Helper()
	if err := matches(s.Delete(t.Context(), owner, id), want); err != nil {
		t.Fatalf("Delete(%q, %d): %v", owner, id, err)
	}
}

// deleteLater deletes the plant when the test ends, if it exists.
func (s suite) deleteLater(t *testing.T, owner string, id int64) {
	t.Cleanup(func() { _ = s.Delete(context.WithoutCancel(t.Context()), owner, id) })
}

// matches returns nil if err matches want and no other error of a store. If
// want is nil, err must be nil.
func matches(err, want error) error {
	ok := errors.Is(err, want)
	for _, e := range []error{
		plants.ErrInUse, plants.ErrKeyReused, plants.ErrNotFound, plants.ErrThrottled, plants.ErrUnreachable, plants.ErrUnwritable,
	} {
		ok = ok && (e == want || !errors.Is(err, e))
	}
	if !ok {
		return fmt.Errorf("error %v, want %v", err, want)
	}
	return nil
}
