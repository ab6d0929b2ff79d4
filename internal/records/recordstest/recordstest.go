// Package recordstest tests implementations of [records.Store].
package recordstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// TestStore runs a subtest for each promise of the [records.Store] contract, on
// the store that open returns. open may return the same store each time, and
// the store may hold other records: owners and ids are random.
//
// The examples are valid fields, at least two and no two alike. Best, the first has
// every field, and each of the others differs from it in one.
//
// Only "order" uses fixed ids, the extremes of int64. It fails if another owner
// has them, so concurrent runs must not share a store.
//
// A store whose List is eventually consistent has 10 seconds to settle.
func TestStore[T records.Fields](t *testing.T, examples []T, open func(t *testing.T) records.Store[T]) {
	for field := range reflect.TypeFor[T]().Fields() {
		if !slices.ContainsFunc(examples, func(fields T) bool { return !reflect.ValueOf(fields).FieldByIndex(field.Index).IsZero() }) {
			t.Errorf("no example of %T has the field %s: add it to one", *new(T), field.Name)
		}
	}
	for _, promise := range promises[T]() {
		t.Run(promise.name, func(t *testing.T) { promise.test(t, suite[T]{open(t), examples}) })
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

// A suite is the store under test, with examples of valid fields. Its methods end the
// test if the store fails.
type suite[T records.Fields] struct {
	store    records.Store[T]
	examples []T
}

// record returns a record with the i-th example. After the last, the examples repeat.
func (s suite[T]) record(id int64, i int) records.Record[T] {
	return records.Record[T]{ID: id, Fields: s.examples[i%len(s.examples)]}
}

// versions returns a record with each example, all with the same id.
func (s suite[T]) versions(id int64) (all []records.Record[T]) {
	for i := range s.examples {
		all = append(all, s.record(id, i))
	}
	return all
}

// randomRecords returns n records in ascending order of their ids, which are 3 apart.
// No other test uses these ids, nor those near them.
func (s suite[T]) randomRecords(n int) (all []records.Record[T]) {
	first := randomID()
	for i := range n {
		all = append(all, s.record(first+3*int64(i), i))
	}
	return all
}

// create creates records with new keys.
func (s suite[T]) create(t testing.TB, owner string, all ...records.Record[T]) {
	t.Helper()
	for _, r := range all {
		s.wantCreate(t, nil, owner, r, records.NewWriteToken())
	}
}

// wantCreate requires Create to return want.
func (s suite[T]) wantCreate(t testing.TB, want error, owner string, r records.Record[T], token records.WriteToken) {
	t.Helper()
	if err := s.store.Create(t.Context(), owner, r, token); !errors.Is(err, want) {
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

const (
	patience = 10 * time.Second // how long an eventually consistent List may take to settle
	listTime = time.Minute      // ends a list that would never end
)

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
// in pages of q.Limit. Each page must meet the contract of [records.Page]. A list that
// doesn't end is an error after listTime.
func (s suite[T]) compare(ctx context.Context, owner string, q records.Query, want []records.Record[T]) error {
	n := 0
	for end := time.Now().Add(listTime); time.Now().Before(end); {
		page, err := s.store.List(ctx, owner, q)
		if err != nil || len(page.Records) > q.Limit {
			return fmt.Errorf("%d records of at most %d, error %v", len(page.Records), q.Limit, err)
		}
		for _, r := range page.Records {
			if n == len(want) {
				return fmt.Errorf("it has more records than %d", n)
			}
			if !reflect.DeepEqual(r, want[n]) {
				return fmt.Errorf("record %d is %s, want %s", n, show(r), show(want[n]))
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
	return fmt.Errorf("it doesn't end, after %d records", n)
}

// show formats r as JSON.
func show[T any](r records.Record[T]) string {
	b, _ := json.Marshal(r) // never fails for the kinds of fields that a resource may have
	return string(b)
}

// randomOwner returns an owner that no other test uses.
func randomOwner() string { return "recordstest-" + strconv.FormatUint(rand.Uint64(), 36) }

// randomID returns an id that no other test uses, nor the ids after it.
func randomID() int64 { return rand.Int64N(1<<62) - 1<<61 }

// TestOldRecord requires a store to treat a record of the first version of the
// program as one of its own. The test of each store has that record, byte by byte,
// and puts it into its storage: alice created it with the write token "key". Fields
// that were added since are zero in want.
func TestOldRecord[T records.Fields](t *testing.T, store records.Store[T], want records.Record[T]) {
	s := suite[T]{store: store}
	s.has(t, "alice", nil, 10, want)
	s.wantCreate(t, nil, "alice", want, "key") // a retry
	s.wantDelete(t, nil, "alice", want.ID)
	s.has(t, "alice", nil, 10)
}
