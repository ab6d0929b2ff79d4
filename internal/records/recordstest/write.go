package recordstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// Every field is returned as it was stored, whether set, zero or nil.
func testFields[T records.Fields](t testing.TB, s suite[T]) {
	owner, want := randomOwner(), s.randomRecords(len(s.examples))
	s.create(t, owner, want...)
	s.has(t, owner, nil, 50, want...)
}

// No owner lists or deletes another owner's records. Owners are any 1 to 255 bytes of
// UTF-8. They are compared byte by byte, and one may be a prefix of another.
func testIsolation[T records.Fields](t testing.TB, s suite[T]) {
	base := randomOwner()
	long := base + strings.Repeat("x", 255-len(base))
	owners := []string{
		base, base + "a", base + "ab", base + "b", base + "A", base + "\x00", base + "\x00\x00", base + "a\x00",
		base + " ", " " + base, "\x00" + base, base + "/", base + "#", base + "|a", base + "\uffff", base + "\U0010ffff",
		base + "é", base + "e\u0301",
		long, long[:254], long[:254] + "y", base + strings.Repeat("\x00", 255-len(base)),
	}
	all := s.randomRecords(2 * len(owners))
	for i, r := range all { // each owner's ids lie between those of the others
		s.create(t, owners[i%len(owners)], r)
	}
	for i, owner := range owners {
		foreign := all[(i+1)%len(owners)]
		s.wantDelete(t, records.ErrNotFound, owner, foreign.ID)
	}
	for i, owner := range owners {
		s.has(t, owner, nil, 1, all[i], all[i+len(owners)])
		s.has(t, owner, &all[len(owners)-1].ID, 1, all[i+len(owners)]) // after another owner's id
	}
}

// A second Create of an id changes nothing. It succeeds only as a retry: by the
// same owner, with the same token and the same record. With another id, the same token
// creates another record.
func testSecondCreate[T records.Fields](t testing.TB, s suite[T]) {
	alice, bob, all, token := randomOwner(), randomOwner(), s.randomRecords(2), records.NewWriteToken()
	r, versions := all[0], s.versions(all[0].ID)
	s.wantCreate(t, nil, alice, r, token)
	for _, other := range versions[1:] {
		s.wantCreate(t, records.ErrWriteTokenReused, alice, other, token)
	}
	for _, other := range versions {
		s.wantCreate(t, records.ErrInUse, alice, other, records.NewWriteToken())
		s.wantCreate(t, records.ErrInUse, bob, other, records.NewWriteToken())
		s.wantCreate(t, records.ErrInUse, bob, other, token)
	}
	s.wantCreate(t, nil, alice, r, token)
	s.wantCreate(t, nil, alice, all[1], token)
	s.has(t, alice, nil, 10, all...)
	s.has(t, bob, nil, 10)
}

// After a Delete the same token can create the record again, the same or not. So
// can another owner.
func testCreateAfterDelete[T records.Fields](t testing.TB, s suite[T]) {
	alice, bob, r, token := randomOwner(), randomOwner(), s.record(randomID(), 0), records.NewWriteToken()
	for _, again := range s.versions(r.ID) {
		s.wantCreate(t, nil, alice, again, token)
		s.has(t, alice, nil, 10, again)
		s.wantDelete(t, nil, alice, r.ID)
		s.wantDelete(t, records.ErrNotFound, alice, r.ID)
	}
	s.create(t, bob, r)
	s.has(t, alice, nil, 10)
	s.has(t, bob, nil, 10, r)
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

// onlyOne returns the index of the only nil error. It fails the test unless all
// others match want.
func onlyOne(t testing.TB, errs []error, want error) (winner int) {
	t.Helper()
	winner = slices.Index(errs, nil)
	if winner < 0 {
		t.Fatal("no call succeeded")
	}
	for i, err := range errs {
		if i != winner && !errors.Is(err, want) {
			t.Fatalf("call %d: error %v, want %v", i, err, want)
		}
	}
	return winner
}

// Of concurrent creates of one id by two owners, exactly one succeeds, and its record
// is stored.
func testConcurrentCreates[T records.Fields](t testing.TB, s suite[T]) {
	owners, id := []string{randomOwner(), randomOwner()}, randomID()
	winner := onlyOne(t, concurrently(func(i int) error {
		return s.store.Create(t.Context(), owners[i%2], s.record(id, i), records.NewWriteToken())
	}), records.ErrInUse)
	s.has(t, owners[winner%2], nil, 10, s.record(id, winner))
	s.has(t, owners[1-winner%2], nil, 10)
}

// Concurrent creates with the same token are one request: all succeed and
// create one record.
func testConcurrentRetries[T records.Fields](t testing.TB, s suite[T]) {
	owner, r, token := randomOwner(), s.record(randomID(), 0), records.NewWriteToken()
	errs := concurrently(func(int) error { return s.store.Create(t.Context(), owner, r, token) })
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	s.has(t, owner, nil, 10, r)
}

// Of concurrent deletes of one record, exactly one succeeds.
func testConcurrentDeletes[T records.Fields](t testing.TB, s suite[T]) {
	owner, all := randomOwner(), s.randomRecords(2)
	s.create(t, owner, all...)
	onlyOne(t, concurrently(func(int) error { return s.store.Delete(t.Context(), owner, all[0].ID) }), records.ErrNotFound)
	s.has(t, owner, nil, 10, all[1])
}

// A call whose context has already ended has no effect.
func testEndedContexts[T records.Fields](t testing.TB, s suite[T]) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	owner, all := randomOwner(), s.randomRecords(2)
	stored, free := all[0], all[1]
	s.create(t, owner, stored)
	want := func(err error) {
		t.Helper()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
	}
	for _, r := range all {
		want(s.store.Create(ctx, owner, r, records.NewWriteToken()))
		want(s.store.Delete(ctx, owner, r.ID))
	}
	_, err := s.store.List(ctx, owner, records.Query{Limit: 10})
	want(err)
	s.has(t, owner, nil, 10, stored)
	// List may be stale; Create is not.
	s.wantCreate(t, records.ErrInUse, owner, stored, records.NewWriteToken())
	s.wantCreate(t, nil, owner, free, records.NewWriteToken())
}
