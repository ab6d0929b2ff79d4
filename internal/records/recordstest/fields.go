package recordstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// This file uses reflection, so that tests cover a new field of records.Record[T]
// without a change.

// generators are for fields that don't accept every value of their type. Each returns
// the n-th valid value, n from 1 to 100, or that of an element of a pointer, a slice or a
// map. Odd and even numbers give different values. Examples are a date and an enumeration:
//
//	"Plant.BoughtOn": func(n int) any { return time.Unix(0, 0).AddDate(0, 0, n).Format(time.DateOnly) },
//	"Plant.Light":    func(n int) any { return []string{"shade", "sun"}[n%2] },
var generators = map[string]func(n int) any{}

// invalid says how to fix a value that recordstest chose.
const invalid = "recordstest chose an invalid value: %v; add the field to generators in internal/records/recordstest/fields.go"

// New returns a valid record with the given id and with random values, none of
// them zero, in all fields.
func New[T records.Fields](t testing.TB, id int64) records.Record[T] {
	t.Helper()
	r := records.Record[T]{ID: id}
	for field, v := range reflect.ValueOf(&r.Fields).Elem().Fields() {
		fill(t, fieldName[T](field), v, 1+2*rand.N(50))
	}
	if err := r.Fields.Validate(); err != nil {
		t.Fatalf(invalid, err)
	}
	return r
}

// fieldName returns the key of a field in generators.
func fieldName[T any](field reflect.StructField) string {
	return reflect.TypeFor[T]().Name() + "." + field.Name
}

// fill sets v, a field of the given name, to the n-th of its values. Those of
// [New] are odd, so that none is zero.
func fill(t testing.TB, name string, v reflect.Value, n int) {
	t.Helper()
	generate, ok := generators[name]
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, name, v.Elem(), n)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, name, v.Index(0), n)
		fill(t, name, v.Index(1), n+1)
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, name, value, n)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case ok:
		v.Set(reflect.ValueOf(generate(n)).Convert(v.Type()))
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(0, int64(n)).UTC()))
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint(strings.ToLower(name), " ", n))
	case v.Kind() == reflect.Bool:
		v.SetBool(n%2 == 1)
	case v.CanInt():
		v.SetInt(int64(n))
	default:
		t.Fatalf("recordstest has no values for %s: add it to generators in internal/records/recordstest/fields.go", name)
	}
}

// Variants returns valid records, each of which differs from r in one field: it has
// another value, or is zero, nil, empty or reversed. r must come from [New].
func Variants[T records.Fields](t testing.TB, r records.Record[T]) []records.Record[T] {
	t.Helper()
	var all []records.Record[T]
	for field, old := range reflect.ValueOf(r.Fields).Fields() {
		other := reflect.New(field.Type).Elem()
		fill(t, fieldName[T](field), other, 2) // New uses odd numbers
		values := []reflect.Value{other, reflect.Zero(field.Type)}
		switch field.Type.Kind() {
		case reflect.Pointer:
			values = append(values, reflect.New(field.Type.Elem()))
		case reflect.Map:
			values = append(values, reflect.MakeMap(field.Type))
		case reflect.Slice:
			reversed := reflect.AppendSlice(reflect.MakeSlice(field.Type, 0, 2), old)
			reflect.Swapper(reversed.Interface())(0, 1)
			values = append(values, reflect.MakeSlice(field.Type, 0, 0), reversed)
		}
		for i, v := range values {
			q := r
			reflect.ValueOf(&q.Fields).Elem().FieldByIndex(field.Index).Set(v)
			if err := q.Fields.Validate(); err == nil {
				all = append(all, q)
			} else if i == 0 {
				t.Fatalf(invalid, err)
			}
		}
	}
	return all
}

// withText returns r with text in every string, or pointer to one, that may hold it.
func withText[T records.Fields](r records.Record[T], text string) records.Record[T] {
	for i := range reflect.TypeFor[T]().NumField() {
		q := r
		switch v := reflect.ValueOf(&q.Fields).Elem().Field(i); v.Interface().(type) {
		case string:
			v.SetString(text)
		case *string:
			v.Set(reflect.ValueOf(&text))
		}
		if q.Fields.Validate() == nil {
			r = q
		}
	}
	return r
}

// Difference describes how got and want differ. It returns "" if they are equal.
func Difference[T any](got, want records.Record[T]) string {
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("it is %s, want %s", show(got), show(want))
}

// show formats r as JSON.
func show[T any](r records.Record[T]) string {
	b, _ := json.Marshal(r) // never fails for the kinds that fill knows
	return string(b)
}

// TestOldRecord requires a store to treat a record of the first version of the
// program as one of its own. The test of each store has that record, byte by byte,
// and puts it into its storage: alice created it with the idempotency key "key". Fields
// that were added since are zero in want.
func TestOldRecord[T records.Fields](t *testing.T, store records.Store[T], want records.Record[T]) {
	s := suite[T]{store}
	s.has(t, "alice", nil, 10, want)
	s.wantCreate(t, nil, "alice", want, "key") // a retry
	s.wantDelete(t, nil, "alice", want.ID)
	s.has(t, "alice", nil, 10)
}

// A Sample has a field of each kind that a resource may have. With it, the tests of a
// store show that it keeps every kind.
type Sample struct {
	Name   string            `json:"name"`
	Note   *string           `json:"note,omitzero"`
	Count  int64             `json:"count"`
	Done   bool              `json:"done"`
	At     time.Time         `json:"at"`
	Parts  []string          `json:"parts,omitzero"`
	Labels map[string]string `json:"labels,omitzero"`
}

// Validate implements [records.Fields].
func (Sample) Validate() error { return nil }
