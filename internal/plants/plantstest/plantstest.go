// Package plantstest tests that a [plants.Store] keeps the promises of its
// contract.
package plantstest

import (
	"context"
	"testing"

	"example.com/plantstore/internal/plants"
)

// TestStore runs one subtest for each promise of the [plants.Store] contract,
// on a store of its own from open. The stores may be one and the same, and may
// hold plants of others: owners and ids are random, and what a subtest creates
// it deletes in the end.
//
// Only "order" needs ids of fixed value, the extremes of int64. It fails if
// anyone else has them, so two runs must not share a store at one time. What
// an interrupted run left of them is no hindrance.
//
// A store whose List lags has ten seconds to settle.
func TestStore(t *testing.T, open func(t *testing.T) plants.Store) {
	for _, promise := range promises {
		t.Run(promise.name, func(t *testing.T) {
			promise.test(t, suite{open(t)})
		})
	}
}

var promises = []struct {
	name string
	test func(*testing.T, suite)
}{
	// list.go
	{"empty", testEmpty},
	{"order", testOrder},
	{"pages", testPages},
	{"after", testAfter},
	{"delete under the cursor", testDeleteUnderCursor},
	// values.go
	{"tags", testTags},
	{"strings", testStrings},
	// owners.go
	{"ids are one space", testOneSpace},
	{"isolation", testIsolation},
	{"odd owners", testOddOwners},
	// tokens.go
	{"in use", testInUse},
	{"same token", testSameToken},
	{"token reused", testTokenReused},
	{"token after delete", testTokenAfterDelete},
	{"token of another owner", testTokenOfAnotherOwner},
	{"token with another id", testTokenWithAnotherID},
	// concurrency.go
	{"concurrent creates", testConcurrentCreates},
	{"concurrent repeats", testConcurrentRepeats},
	{"concurrent deletes", testConcurrentDeletes},
	{"concurrent creates and deletes", testConcurrentCreatesAndDeletes},
	// contexts.go
	{"cancelled", testCancelled},
	{"expired", testExpired},
}

// A suite is the store under test, with the steps that tests are made of. They
// end the test where the store fails them.
type suite struct{ plants.Store }

// create creates p with a token of its own, and deletes it when the test ends.
func (s suite) create(t *testing.T, owner string, p plants.Plant) {
	t.Helper()
	s.createWith(t, owner, p, plants.NewWriteToken())
}

func (s suite) createWith(t *testing.T, owner string, p plants.Plant, token plants.WriteToken) {
	t.Helper()
	s.deleteLater(t, owner, p.ID)
	if err := s.Create(t.Context(), owner, p, token); err != nil {
		t.Fatalf("Create(%q, %s): %v", owner, show(p), err)
	}
}

// deleteLater deletes a plant, if there is one, when the test ends.
func (s suite) deleteLater(t *testing.T, owner string, id int64) {
	t.Cleanup(func() {
		// The test has its verdict: whatever comes of this is no part of it.
		_ = s.Delete(context.WithoutCancel(t.Context()), owner, id)
	})
}

func (s suite) delete(t *testing.T, owner string, id int64) {
	t.Helper()
	if err := s.Delete(t.Context(), owner, id); err != nil {
		t.Fatalf("Delete(%q, %d): %v", owner, id, err)
	}
}
