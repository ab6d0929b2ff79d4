package recordstest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// Every field is returned as it was stored, whether set, zero or nil. So is every
// valid string.
func testFields[T records.Fields](t testing.TB, s suite[T]) {
	owner, r := randomOwner(), randomRecord[T](t)
	want := append(Variants(t, r), r)
	for _, text := range unusualStrings {
		want = append(want, withText(r, text))
	}
	for i := range want {
		want[i].ID = r.ID + int64(i)
	}
	s.create(t, owner, want...)
	s.has(t, owner, nil, 50, want...)
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
	all := randomRecords[T](t, 2*len(owners))
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
// same owner, with the same key and the same record. With another id, the same key
// creates another record.
func testSecondCreate[T records.Fields](t testing.TB, s suite[T]) {
	alice, bob, all, key := randomOwner(), randomOwner(), randomRecords[T](t, 2), records.NewIdempotencyKey()
	r := all[0]
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
	s.wantCreate(t, nil, alice, all[1], key)
	s.has(t, alice, nil, 10, all...)
	s.has(t, bob, nil, 10)
}

// After a Delete the same key can create the record again, the same or not. So
// can another owner.
func testCreateAfterDelete[T records.Fields](t testing.TB, s suite[T]) {
	alice, bob, r, key := randomOwner(), randomOwner(), randomRecord[T](t), records.NewIdempotencyKey()
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
	owners, r := []string{randomOwner(), randomOwner()}, randomRecord[T](t)
	all := make([]records.Record[T], 50)
	for i := range all {
		all[i] = New[T](t, r.ID)
	}
	winner := onlyOne(t, concurrently(func(i int) error {
		return s.store.Create(t.Context(), owners[i%2], all[i], records.NewIdempotencyKey())
	}), records.ErrInUse)
	s.has(t, owners[winner%2], nil, 10, all[winner])
	s.has(t, owners[1-winner%2], nil, 10)
}

// Concurrent creates with the same key are one request: all succeed and
// create one record.
func testConcurrentRetries[T records.Fields](t testing.TB, s suite[T]) {
	owner, r, key := randomOwner(), randomRecord[T](t), records.NewIdempotencyKey()
	errs := concurrently(func(int) error { return s.store.Create(t.Context(), owner, r, key) })
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	s.has(t, owner, nil, 10, r)
}

// Of concurrent deletes of one record, exactly one succeeds.
func testConcurrentDeletes[T records.Fields](t testing.TB, s suite[T]) {
	owner, all := randomOwner(), randomRecords[T](t, 2)
	s.create(t, owner, all...)
	onlyOne(t, concurrently(func(int) error { return s.store.Delete(t.Context(), owner, all[0].ID) }), records.ErrNotFound)
	s.has(t, owner, nil, 10, all[1])
}

// argument returns the argument of type in for a call about r.
func argument[T records.Fields](t testing.TB, in reflect.Type, ctx context.Context, owner string, r records.Record[T]) reflect.Value {
	t.Helper()
	for _, v := range []any{ctx, owner, r, r.ID, r.Fields, records.Query{Limit: 10}, records.NewIdempotencyKey()} {
		if reflect.TypeOf(v).AssignableTo(in) {
			return reflect.ValueOf(v)
		}
	}
	t.Fatalf("no argument of type %v: add one to argument in internal/records/recordstest/write.go", in)
	panic("unreachable")
}

// A call whose context has already ended has no effect. This covers a new method of
// [records.Store] too.
func testEndedContexts[T records.Fields](t testing.TB, s suite[T]) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	owner, all := randomOwner(), randomRecords[T](t, 2)
	stored, free := all[0], all[1]
	s.create(t, owner, stored)
	for method := range reflect.TypeFor[records.Store[T]]().Methods() {
		for _, r := range all {
			var args []reflect.Value
			for in := range method.Type.Ins() {
				args = append(args, argument(t, in, ctx, owner, r))
			}
			results := reflect.ValueOf(s.store).MethodByName(method.Name).Call(args)
			if err, _ := results[len(results)-1].Interface().(error); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v, want %v", method.Name, err, context.DeadlineExceeded)
			}
		}
	}
	s.has(t, owner, nil, 10, stored)
	// List may be stale; Create is not.
	s.wantCreate(t, records.ErrInUse, owner, stored, records.NewIdempotencyKey())
	s.wantCreate(t, nil, owner, free, records.NewIdempotencyKey())
}
