// Package recordstest tests implementations of [records.Store], and provides
// records with every field set.
package recordstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// TestStore runs a subtest for each promise of the [records.Store] contract, on
// the store that open returns. open may return the same store each time, and
// the store may hold other records: owners and ids are random.
//
// Only "order" uses fixed ids, the extremes of int64. It fails if another owner
// has them, so concurrent runs must not share a store.
//
// A store whose List is eventually consistent has 10 seconds to settle.
func TestStore[T records.Fields](t *testing.T, open func(t *testing.T) records.Store[T]) {
	for _, promise := range promises[T]() {
		t.Run(promise.name, func(t *testing.T) { promise.test(t, suite[T]{open(t)}) })
	}
}

// A promise of the contract is the name of a subtest and the test.
type promise[T records.Fields] struct {
	name string
	test func(testing.TB, suite[T])
}

func promises[T records.Fields]() []promise[T] {
	return []promise[T]{
		{"fields", testFields[T]},
		{"order", testOrder[T]},
		{"after", testAfter[T]},
		{"isolation", testIsolation[T]},
		{"second create", testSecondCreate[T]},
		{"create after delete", testCreateAfterDelete[T]},
		{"concurrent creates", testConcurrentCreates[T]},
		{"concurrent retries", testConcurrentRetries[T]},
		{"concurrent deletes", testConcurrentDeletes[T]},
		{"ended contexts", testEndedContexts[T]},
	}
}

// A suite is the store under test. Its methods end the test if the store fails.
type suite[T records.Fields] struct{ store records.Store[T] }

// create creates records with new keys.
func (s suite[T]) create(t testing.TB, owner string, all ...records.Record[T]) {
	t.Helper()
	for _, r := range all {
		s.wantCreate(t, nil, owner, r, records.NewIdempotencyKey())
	}
}

// wantCreate requires Create to return want.
func (s suite[T]) wantCreate(t testing.TB, want error, owner string, r records.Record[T], key records.IdempotencyKey) {
	t.Helper()
	if err := s.store.Create(t.Context(), owner, r, key); !errors.Is(err, want) {
		t.Fatalf("Create(%q, %s): error %v, want %v", owner, show(r), err, want)
	}
}

// wantDelete requires Delete to return want.
func (s suite[T]) wantDelete(t testing.TB, want error, owner string, id int64) {
	t.Helper()
	if err := s.store.Delete(t.Context(), owner, id); !errors.Is(err, want) {
		t.Fatalf("Delete(%q, %d): error %v, want %v", owner, id, err, want)
	}
}

// patience is how long an eventually consistent List may take to settle.
var patience = 10 * time.Second

// has requires that owner's records after the given id, read in pages of limit,
// are want or become want within patience.
func (s suite[T]) has(t testing.TB, owner string, after *int64, limit int, want ...records.Record[T]) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := s.compare(t.Context(), owner, records.Query{After: after, Limit: limit}, want)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%T, after %v: List(%q): %v", s.store, patience, owner, err)
		}
	}
}

// compare returns the first difference between want and all records that q selects,
// in pages of q.Limit. Each page must meet the contract of [records.Page].
func (s suite[T]) compare(ctx context.Context, owner string, q records.Query, want []records.Record[T]) error {
	for n := 0; ; {
		page, err := s.store.List(ctx, owner, q)
		if err != nil || len(page.Records) > q.Limit {
			return fmt.Errorf("%d records of at most %d, error %v", len(page.Records), q.Limit, err)
		}
		for _, r := range page.Records {
			if n == len(want) {
				return fmt.Errorf("it has more records than %d", n)
			}
			if d := Difference(r, want[n]); d != "" {
				return fmt.Errorf("record %d: %s", n, d)
			}
			n, q.After = n+1, &r.ID // the last id, with which Next is compared
		}
		switch next := page.Next; {
		case next == nil && n < len(want):
			return fmt.Errorf("it has %d records, want %d", n, len(want))
		case next == nil:
			return nil
		case q.After != nil && (*next < *q.After || len(page.Records) == 0 && *next == *q.After):
			return fmt.Errorf("its Next is %d after id %d", *next, *q.After)
		}
		q.After = page.Next
	}
}

// randomOwner returns an owner that no other test uses.
func randomOwner() string { return "recordstest-" + strconv.FormatUint(rand.Uint64(), 36) }

// randomRecords returns n records in ascending order of their ids, which are 3 apart.
// No other test uses these ids, nor those near them.
func randomRecords[T records.Fields](t testing.TB, n int) (all []records.Record[T]) {
	for first := rand.Int64N(1<<62) - 1<<61; len(all) < n; {
		all = append(all, New[T](t, first+3*int64(len(all))))
	}
	return all
}

func randomRecord[T records.Fields](t testing.TB) records.Record[T] { return randomRecords[T](t, 1)[0] }
