package plantstest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// Every field is returned as it was stored, whether set, empty or nil.
func testFields(t testing.TB, s suite) {
	owner, want := randomOwner(), slices.Concat(examples(0), unusual())
	first, last := reflect.ValueOf(want[0]), reflect.ValueOf(want[len(want)-1])
	for field := range reflect.TypeFor[plants.Plant]().Fields() {
		i := field.Index
		if field.Name != "ID" && (first.FieldByIndex(i).IsZero() || last.FieldByIndex(i).IsZero()) {
			t.Errorf("add the field %s to Example and unusual in internal/plants/plantstest/example.go", field.Name)
		}
	}
	id := randomID()
	for i := range want {
		want[i].ID = id + int64(i)
	}
	s.create(t, owner, want...)
	s.wantList(t, owner, 100, want...)
}

// unlike returns p with another name.
func unlike(p plants.Plant) plants.Plant {
	p.Name = "not " + p.Name
	return p
}

// calls has a call of each method of a store.
var calls = map[string]func(ctx context.Context, s plants.Store, owner string, p plants.Plant) error{
	"Create": func(ctx context.Context, s plants.Store, owner string, p plants.Plant) error {
		return s.Create(ctx, owner, p)
	},
	"List": func(ctx context.Context, s plants.Store, owner string, _ plants.Plant) error {
		_, _, err := s.List(ctx, owner, nil, 10)
		return err
	},
	"Delete": func(ctx context.Context, s plants.Store, owner string, p plants.Plant) error {
		return s.Delete(ctx, owner, p.ID)
	},
}

// No owner lists or deletes another owner's plants. Owners are any 1 to 255 bytes of
// UTF-8. They are compared byte by byte, and one may be a prefix of another.
func testIsolation(t testing.TB, s suite) {
	for method := range reflect.TypeFor[plants.Store]().Methods() {
		if calls[method.Name] == nil {
			t.Fatalf("add %s to calls in internal/plants/plantstest/write.go", method.Name)
		}
	}
	base := randomOwner()
	long := base + strings.Repeat("x", 255-len(base))
	owners := []string{
		base, base + "a", base + "ab", base + "b", base + "A", base + "\x00", base + "\x00\x00", base + "a\x00",
		base + " ", " " + base, "\x00" + base, base + "/", base + "#", base + "|a", base + "\uffff", base + "\U0010ffff",
		base + "é", base + "e\u0301",
		long, long[:254], long[:254] + "y", base + strings.Repeat("\x00", 255-len(base)),
	}
	all := randomPlants(2 * len(owners))
	for i, p := range all { // each owner's ids lie between those of the others
		s.create(t, owners[i%len(owners)], p)
	}
	for i, owner := range owners {
		foreign := unlike(all[(i+1)%len(owners)]) // an update, if somebody adds one, would change it
		for method, call := range calls {
			if method == "Create" || method == "List" { // these don't need a plant of the owner
				continue
			}
			if err := call(t.Context(), s.store, owner, foreign); !errors.Is(err, plants.ErrNotFound) {
				t.Fatalf("%s by %q of another owner's plant: error %v, want %v", method, owner, err, plants.ErrNotFound)
			}
		}
	}
	for i, owner := range owners {
		s.wantList(t, owner, 1, all[i], all[i+len(owners)])
		s.wantListAfter(t, owner, &all[len(owners)-1].ID, 1, all[i+len(owners)]) // after another owner's id
	}
}

// A second Create of an id changes nothing. It succeeds only as a retry: the same owner
// creates the same plant.
func testSecondCreate(t testing.TB, s suite) {
	alice, bob, all := randomOwner(), randomOwner(), examples(randomID())
	s.create(t, alice, all[0])
	for _, other := range all[1:] {
		s.wantCreate(t, plants.ErrExists, alice, other)
	}
	for _, other := range all {
		s.wantCreate(t, plants.ErrInUse, bob, other)
	}
	s.wantCreate(t, nil, alice, all[0])
	s.wantList(t, alice, 10, all[0])
	s.wantList(t, bob, 10)
}

// After a Delete the id is free again, for the same plant, for another one, and for
// another owner.
func testCreateAfterDelete(t testing.TB, s suite) {
	alice, bob, all := randomOwner(), randomOwner(), examples(randomID())
	for _, p := range append(all, all[0], all[0]) {
		s.create(t, alice, p)
		s.wantList(t, alice, 10, p)
		s.wantDelete(t, nil, alice, p.ID)
		s.wantDelete(t, plants.ErrNotFound, alice, p.ID)
	}
	s.create(t, bob, all[0])
	s.wantList(t, alice, 10)
	s.wantList(t, bob, 10, all[0])
}

// concurrently makes 50 concurrent calls and returns their errors.
func concurrently(call func(i int) error) []error {
	errs := make([]error, 50)
	var calls sync.WaitGroup
	for i := range errs {
		calls.Go(func() { errs[i] = call(i) })
	}
	calls.Wait()
	return errs
}

// successes returns the indices of the nil errors. It fails the test if no error is nil, or if
// one of the others matches none of the refusals.
func successes(t testing.TB, errs []error, refusals ...error) (indices []int) {
	t.Helper()
	for i, err := range errs {
		if err == nil {
			indices = append(indices, i)
		} else if !slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }) {
			t.Fatalf("call %d: error %v, want none or one of %v", i, err, refusals)
		}
	}
	if indices == nil {
		t.Fatal("no call succeeded")
	}
	return indices
}

// If two owners concurrently create different plants with one id, exactly one create
// succeeds, and its plant is stored.
func testConcurrentCreates(t testing.TB, s suite) {
	owners, id := []string{randomOwner(), randomOwner()}, randomID()
	plant := func(i int) plants.Plant {
		p := Minimal(id)
		p.Name += string(rune('A' + i))
		return p
	}
	winners := successes(t, concurrently(func(i int) error {
		return s.store.Create(t.Context(), owners[i%2], plant(i))
	}), plants.ErrInUse, plants.ErrExists)
	if len(winners) > 1 {
		t.Fatalf("the creates %v of one id succeeded", winners)
	}
	s.wantList(t, owners[winners[0]%2], 10, plant(winners[0]))
	s.wantList(t, owners[1-winners[0]%2], 10)
}

// If one owner concurrently creates the same plant, all creates succeed, and there is one
// plant.
func testConcurrentRetries(t testing.TB, s suite) {
	owner, p := randomOwner(), nthExample(randomID(), 0)
	errs := concurrently(func(int) error { return s.store.Create(t.Context(), owner, p) })
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	s.wantList(t, owner, 10, p)
}

// Of concurrent deletes of one plant, at least one succeeds. The others succeed, too, or find
// no plant.
func testConcurrentDeletes(t testing.TB, s suite) {
	owner, all := randomOwner(), randomPlants(2)
	s.create(t, owner, all...)
	successes(t, concurrently(func(int) error { return s.store.Delete(t.Context(), owner, all[0].ID) }),
		plants.ErrNotFound)
	s.wantList(t, owner, 10, all[1])
}

// A call whose context has already ended has no effect.
func testEndedContexts(t testing.TB, s suite) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	owner, all := randomOwner(), randomPlants(2)
	stored, free := all[0], all[1]
	s.create(t, owner, stored)
	for _, p := range all {
		for method, call := range calls {
			if err := call(ctx, s.store, owner, unlike(p)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v, want %v", method, err, context.DeadlineExceeded)
			}
		}
	}
	s.wantList(t, owner, 10, stored)
	// List may be stale, but Create is not. It shows that stored is still there as it was, and that
	// free is still free.
	s.wantCreate(t, plants.ErrExists, owner, unlike(stored))
	s.wantCreate(t, nil, owner, free)
}
