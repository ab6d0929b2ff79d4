// Package plantstest tests implementations of [plants.Store]. It also has the plant that tests of
// other packages use, and a store in memory.
package plantstest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// TestStore runs a subtest for each promise of the [plants.Store] contract, on the
// given store. The store may hold other plants: owners and ids are random.
//
// Only "order" uses fixed ids, the extremes of int64. It fails if another owner
// has them, so concurrent runs must not share a store.
//
// A store whose List is eventually consistent has 10 seconds to settle.
func TestStore(t *testing.T, store plants.Store) {
	for _, promise := range promises {
		t.Run(promise.name, func(t *testing.T) { promise.test(t, suite{store}) })
	}
}

// promises are the subtests.
var promises = []struct {
	name string
	test func(testing.TB, suite)
}{
	{"fields", testFields},
	{"order", testOrder},
	{"after", testAfter},
	{"large", testLarge},
	{"isolation", testIsolation},
	{"second create", testSecondCreate},
	{"create after delete", testCreateAfterDelete},
	{"concurrent creates", testConcurrentCreates},
	{"concurrent retries", testConcurrentRetries},
	{"concurrent deletes", testConcurrentDeletes},
	{"ended contexts", testEndedContexts},
}

// A suite is the store under test. Its methods end the test if the store fails.
type suite struct{ store plants.Store }

// randomPlants returns n plants in ascending order of their ids, which are 3 apart.
// No other test uses these ids or the ids near them.
func randomPlants(n int) (all []plants.Plant) {
	first := randomID()
	for i := range n {
		all = append(all, nthExample(first+3*int64(i), i))
	}
	return all
}

// create creates plants that don't exist.
func (s suite) create(t testing.TB, owner string, all ...plants.Plant) {
	t.Helper()
	for _, p := range all {
		s.wantCreate(t, nil, owner, p)
	}
}

// wantCreate requires Create to return want.
func (s suite) wantCreate(t testing.TB, want error, owner string, p plants.Plant) {
	t.Helper()
	if err := s.store.Create(t.Context(), owner, p); !errors.Is(err, want) {
		t.Fatalf("Create(%q, %s): error %v, want %v", owner, show(p), err, want)
	}
}

// wantDelete requires Delete to return want.
func (s suite) wantDelete(t testing.TB, want error, owner string, id int64) {
	t.Helper()
	if err := s.store.Delete(t.Context(), owner, id); !errors.Is(err, want) {
		t.Fatalf("Delete(%q, %d): error %v, want %v", owner, id, err, want)
	}
}

// patience is how long an eventually consistent List may take to settle.
const patience = 10 * time.Second

// wantList requires that owner's plants are want, or become want within patience. It lists
// limit plants at a time.
func (s suite) wantList(t testing.TB, owner string, limit int, want ...plants.Plant) {
	t.Helper()
	s.wantListAfter(t, owner, nil, limit, want...)
}

// wantListAfter is like wantList, for the plants after the given id.
func (s suite) wantListAfter(t testing.TB, owner string, after *int64, limit int, want ...plants.Plant) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := s.compare(t, owner, after, limit, want)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%T, after %v: List(%q): %v", s.store, patience, owner, err)
		}
	}
}

// compare returns the first difference between want and owner's plants after the given
// id. It lists limit plants at a time. A store may end a page earlier.
func (s suite) compare(t testing.TB, owner string, after *int64, limit int, want []plants.Plant) error {
	for {
		got, more, err := s.store.List(t.Context(), owner, after, limit)
		if err != nil {
			return err
		}
		part, rest := want[:min(len(got), len(want))], want[min(len(got), len(want)):]
		switch {
		case len(got) > limit || !slices.EqualFunc(got, part, plants.Plant.Equal):
			return fmt.Errorf("got %s, want the first %d of %s", show(got...), limit, show(want...))
		case !more && len(rest) > 0:
			return fmt.Errorf("got %d plants and no more, want next %s", len(got), show(rest[0]))
		case !more:
			return nil
		case len(got) == 0:
			return errors.New("got no plants, and more")
		case len(got) == limit && len(rest) == 0:
			return fmt.Errorf("got more after the last of %d plants", len(got))
		}
		want, after = rest, &got[len(got)-1].ID
	}
}

// randomOwner returns an owner that no other test uses.
func randomOwner() string { return "plantstest-" + strconv.FormatUint(rand.Uint64(), 36) }

// randomID returns a random id. No other test uses it or the ids after it.
func randomID() int64 { return rand.Int64N(1<<62) - 1<<61 }

// TestOldPlant tests that a store can still use a plant that the first version of the
// program stored for alice. The test of each store contains that plant byte for byte, and
// puts it into the storage. Fields added since are zero in want.
func TestOldPlant(t *testing.T, store plants.Store, want plants.Plant) {
	s := suite{store}
	s.wantList(t, "alice", 10, want)
	s.wantCreate(t, nil, "alice", want) // a retry
	s.wantDelete(t, nil, "alice", want.ID)
	s.wantList(t, "alice", 10)
}

// show returns plants with their ids as JSON, for messages.
func show(all ...plants.Plant) string {
	texts := []string{}
	for _, p := range all {
		texts = append(texts, CreateJSON(p))
	}
	return "[" + strings.Join(texts, ",") + "]"
}
