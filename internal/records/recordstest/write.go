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
func testFields[T records.Fields](t *testing.T, s suite[T]) {
	owner, r := randomOwner(), randomRecord[T](t)
	want := append(Variants(t, r), r)
	for i := range want {
		want[i].ID = r.ID + int64(i)
		s.create(t, owner, want[i])
	}
	s.has(t, owner, nil, 10, want...)
}

// Every valid string is returned unchanged, in every field that can hold it.
func testStrings[T records.Fields](t *testing.T, s suite[T]) {
	owner := randomOwner()
	all := randomRecords[T](t, len(unusualStrings))
	for i := range all {
		all[i] = withText(all[i], unusualStrings[i])
		s.create(t, owner, all[i])
	}
	s.has(t, owner, nil, 50, all...)
}

// unusualStrings are strings that storage systems and encodings are known to
// change.
var unusualStrings = []string{
	"  x  ", "\r\nx\r\n\t", "a\x00b", "\x00", "line\u2028line\u2029line\u0085line", "\ufeffx", "x\ufffd\ufffe\uffff",
	"\u00e9", "e\u0301", "\u0301", "\u212b", "\ufb01", "ß", "ẞ", "ı", "İ", "\u200b\u200d\u202e", "\U0001f468\u200d\U0001f469",
	"\\", `\u0041`, `<a href="x">&amp;'`, `{"a":1}`, "%s%%", "null", "true", "0", "1e5", "name", "#name", ":name", "../..",
	strings.Repeat("\U0010ffff", 256), strings.Repeat(`"\`, 128),
	"\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\u0080\u009f\u00a0",
}

// No owner lists or deletes another owner's records.
func testIsolation[T records.Fields](t *testing.T, s suite[T]) {
	alice, bob := randomOwner(), randomOwner()
	all := randomRecords[T](t, 6)
	for i, r := range all { // bob's ids lie between alice's
		s.create(t, []string{alice, bob}[i%2], r)
	}
	s.has(t, alice, nil, 2, all[0], all[2], all[4])
	s.has(t, bob, nil, 2, all[1], all[3], all[5])
	s.has(t, bob, &all[2].ID, 2, all[3], all[5])
	s.wantDelete(t, records.ErrNotFound, bob, all[0].ID)
	s.wantDelete(t, records.ErrNotFound, bob, randomID())
	s.wantDelete(t, nil, alice, all[0].ID) // still there
	s.has(t, bob, nil, 2, all[1], all[3], all[5])
}

// A second Create of an id changes nothing. It succeeds only as a retry: by the
// same owner, with the same key and the same record.
func testSecondCreate[T records.Fields](t *testing.T, s suite[T]) {
	alice, bob, r, key := randomOwner(), randomOwner(), randomRecord[T](t), records.NewIdempotencyKey()
	s.deleteLater(t, alice, r.ID)
	s.wantCreate(t, nil, alice, r, key)
	for _, other := range Variants(t, r) {
		s.wantCreate(t, records.ErrKeyReused, alice, other, key)
	}
	for _, other := range append(Variants(t, r), r) {
		s.wantCreate(t, records.ErrInUse, alice, other, records.NewIdempotencyKey())
		s.wantCreate(t, records.ErrInUse, bob, other, records.NewIdempotencyKey())
		s.wantCreate(t, records.ErrInUse, bob, other, key)
	}
	s.wantCreate(t, nil, alice, r, key)
	s.has(t, alice, nil, 10, r)
	s.has(t, bob, nil, 10)
}

// The same key creates another record with another id.
func testKeyPerID[T records.Fields](t *testing.T, s suite[T]) {
	owner, all, key := randomOwner(), randomRecords[T](t, 2), records.NewIdempotencyKey()
	for _, r := range all {
		s.deleteLater(t, owner, r.ID)
		s.wantCreate(t, nil, owner, r, key)
	}
	s.has(t, owner, nil, 10, all...)
}

// After a Delete the same key can create the record again, the same or not. So
// can another owner.
func testCreateAfterDelete[T records.Fields](t *testing.T, s suite[T]) {
	alice, bob, r, key := randomOwner(), randomOwner(), randomRecord[T](t), records.NewIdempotencyKey()
	s.deleteLater(t, alice, r.ID)
	for _, again := range append(Variants(t, r), r) {
		s.wantCreate(t, nil, alice, again, key)
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
// its record is stored.
func testConcurrentCreates[T records.Fields](t *testing.T, s suite[T]) {
	owners, r := []string{randomOwner(), randomOwner(), randomOwner()}, randomRecord[T](t)
	for _, owner := range owners {
		s.deleteLater(t, owner, r.ID)
	}
	all := make([]records.Record[T], 50)
	for i := range all {
		all[i] = New[T](t, r.ID)
	}
	winner := onlyOne(t, concurrently(func(i int) error {
		return s.store.Create(t.Context(), owners[i%len(owners)], all[i], records.NewIdempotencyKey())
	}), records.ErrInUse)
	for i, owner := range owners {
		if i == winner%len(owners) {
			s.has(t, owner, nil, 10, all[winner])
		} else {
			s.has(t, owner, nil, 10)
		}
	}
}

// Concurrent creates with the same key are one request: all succeed and
// create one record.
func testConcurrentRetries[T records.Fields](t *testing.T, s suite[T]) {
	owner, r, key := randomOwner(), randomRecord[T](t), records.NewIdempotencyKey()
	s.deleteLater(t, owner, r.ID)
	errs := concurrently(func(int) error { return s.store.Create(t.Context(), owner, r, key) })
	if failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil }); len(failed) > 0 {
		t.Errorf("%d calls failed, the first with %v", len(failed), failed[0])
	}
	s.has(t, owner, nil, 10, r)
}

// Of concurrent deletes of one record, exactly one succeeds.
func testConcurrentDeletes[T records.Fields](t *testing.T, s suite[T]) {
	owner, all := randomOwner(), randomRecords[T](t, 2)
	for _, r := range all {
		s.create(t, owner, r)
	}
	onlyOne(t, concurrently(func(int) error { return s.store.Delete(t.Context(), owner, all[0].ID) }), records.ErrNotFound)
	s.has(t, owner, nil, 10, all[1])
}

// A call whose context is already canceled or past its deadline has no effect.
func testEndedContexts[T records.Fields](t *testing.T, s suite[T]) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, ctx := range []context.Context{canceled, expired} {
		owner, all := randomOwner(), randomRecords[T](t, 2)
		stored, free := all[0], all[1]
		s.create(t, owner, stored)
		s.deleteLater(t, owner, free.ID)
		_, listed := s.store.List(ctx, owner, records.Query{Limit: 10})
		var names []string
		for _, call := range []struct {
			name string
			err  error
		}{
			{"Create", s.store.Create(ctx, owner, free, records.NewIdempotencyKey())},
			{"List", listed},
			{"Delete", s.store.Delete(ctx, owner, stored.ID)},
		} {
			names = append(names, call.name)
			if !errors.Is(call.err, ctx.Err()) {
				t.Errorf("%s: error %v, want %v", call.name, call.err, ctx.Err())
			}
		}
		WantMethods(t, "testEndedContexts in internal/records/recordstest/write.go", names...)
		s.has(t, owner, nil, 10, stored)
		// List may be stale; Create is not.
		s.wantCreate(t, records.ErrInUse, owner, stored, records.NewIdempotencyKey())
		s.wantCreate(t, nil, owner, free, records.NewIdempotencyKey())
	}
}
