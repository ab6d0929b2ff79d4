// Package plantstest tests implementations of [plants.Store], and provides
// plants with every field set.
package plantstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// TestStore runs a subtest for each promise of the [plants.Store] contract, on
// the store that open returns. open may return the same store each time, and
// the store may hold other plants: owners and ids are random, and each subtest
// deletes the plants that it created.
//
// Only "order" uses fixed ids, the extremes of int64. It fails if another owner
// has them, so concurrent runs must not share a store.
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
type suite struct{ store plants.Store }

// create creates p with a new key, and deletes it when the test ends.
func (s suite) create(t *testing.T, owner string, p plants.Plant) {
	t.Helper()
	s.deleteLater(t, owner, p.ID)
	s.wantCreate(t, nil, owner, p, plants.NewIdempotencyKey())
}

// wantCreate requires Create to return want.
func (s suite) wantCreate(t *testing.T, want error, owner string, p plants.Plant, key plants.IdempotencyKey) {
	t.Helper()
	if err := matches(s.store.Create(t.Context(), owner, p, key), want); err != nil {
		t.Fatalf("Create(%q, %s): %v", owner, show(p), err)
	}
}

// wantDelete requires Delete to return want.
func (s suite) wantDelete(t *testing.T, want error, owner string, id int64) {
	t.Helper()
	if err := matches(s.store.Delete(t.Context(), owner, id), want); err != nil {
		t.Fatalf("Delete(%q, %d): %v", owner, id, err)
	}
}

// deleteLater deletes the plant when the test ends, if it exists.
func (s suite) deleteLater(t *testing.T, owner string, id int64) {
	t.Cleanup(func() { _ = s.store.Delete(context.WithoutCancel(t.Context()), owner, id) })
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

// patience is how long an eventually consistent List may take to settle.
var patience = 10 * time.Second

// has requires that owner's plants after the given id, read in pages of limit,
// are want or become want within patience.
func (s suite) has(t *testing.T, owner string, after *int64, limit int, want ...plants.Plant) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := s.compare(t.Context(), owner, plants.Query{After: after, Limit: limit}, want)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%T, after %v: List(%q): %v", s.store, patience, owner, err)
		}
	}
}

// compare returns the first difference between want and all plants that q selects,
// in pages of q.Limit. Each page must meet the contract of [plants.Page].
func (s suite) compare(ctx context.Context, owner string, q plants.Query, want []plants.Plant) error {
	for n := 0; ; {
		page, err := s.store.List(ctx, owner, q)
		if err != nil || len(page.Plants) > q.Limit {
			return fmt.Errorf("%d plants of at most %d, error %v", len(page.Plants), q.Limit, err)
		}
		for _, p := range page.Plants {
			if n == len(want) {
				return fmt.Errorf("it has more plants than %d", n)
			}
			if d := Difference(p, want[n]); d != "" {
				return fmt.Errorf("plant %d: %s; if this field is lost, make the store's Create write it and its List read it, with its default in an old record", n, d)
			}
			n, q.After = n+1, &p.ID
		}
		switch next := page.Next; {
		case next == nil && n < len(want):
			return fmt.Errorf("it has %d plants, want %d", n, len(want))
		case next == nil:
			return nil
		case q.After != nil && (*next < *q.After || len(page.Plants) == 0 && *next == *q.After):
			return fmt.Errorf("its Next is %d after id %d", *next, *q.After)
		}
		q.After = page.Next
	}
}

// randomOwner returns an owner that no other test uses.
func randomOwner() string { return "plantstest-" + strconv.FormatUint(rand.Uint64(), 36) }

// randomID returns an id that no other test uses, nor those near it.
func randomID() int64 { return rand.Int64N(1<<62) - 1<<61 }

func randomPlant(t *testing.T) plants.Plant { return Plant(t, randomID()) }

// randomPlants returns n plants in ascending order of their ids, which are 3 apart.
func randomPlants(t *testing.T, n int) (all []plants.Plant) {
	for first := randomID(); len(all) < n; {
		all = append(all, Plant(t, first+3*int64(len(all))))
	}
	return all
}
