package plantstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// This file uses reflection, so that tests cover a new field of plants.Plant
// without a change.

// generators return the n-th valid value of a field, n from 1 to 100, if it isn't
// just any of its type. Odd and even numbers give different values. Examples are
// a date and an enumeration:
//
//	"BoughtOn": func(n int) any { return time.Unix(0, 0).AddDate(0, 0, n).Format(time.DateOnly) },
//	"Light":    func(n int) any { return []string{"shade", "sun"}[n%2] },
var generators = map[string]func(n int) any{}

// invalid says how to fix a value that plantstest chose.
const invalid = "plantstest chose an invalid value: %v; add the field to generators in internal/plants/plantstest/fields.go"

// Plant returns a valid plant with the given id and with random values, none of
// them zero, in all other fields.
func Plant(t testing.TB, id int64) plants.Plant {
	t.Helper()
	var p plants.Plant
	for field, v := range reflect.ValueOf(&p).Elem().Fields() {
		fill(t, field.Name, v, 1+2*rand.N(50))
	}
	p.ID = id
	if err := p.Validate(); err != nil {
		t.Fatalf(invalid, err)
	}
	return p
}

// fill sets v, a field of the given name, to the n-th of its values. Those of
// [Plant] are odd, so that none is zero.
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
	case ok:
		v.Set(reflect.ValueOf(generate(n)).Convert(v.Type()))
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint(strings.ToLower(name), " ", n))
	case v.Kind() == reflect.Bool:
		v.SetBool(n%2 == 1)
	case v.CanInt():
		v.SetInt(int64(n))
	case v.CanUint():
		v.SetUint(uint64(n))
	default:
		t.Fatalf("plantstest has no values for Plant.%s: add it to generators in internal/plants/plantstest/fields.go", name)
	}
}

// Variants returns valid plants, each of which differs from p in one field other
// than ID: the field has another value, or is zero, nil, empty or reversed. p must
// come from [Plant].
func Variants(t testing.TB, p plants.Plant) []plants.Plant {
	t.Helper()
	var all []plants.Plant
	for field, old := range reflect.ValueOf(p).Fields() {
		if field.Name == "ID" {
			continue
		}
		other := reflect.New(field.Type).Elem()
		fill(t, field.Name, other, 2) // Plant uses odd numbers
		values := []reflect.Value{other, reflect.Zero(field.Type)}
		switch field.Type.Kind() {
		case reflect.Pointer:
			values = append(values, reflect.New(field.Type.Elem()))
		case reflect.Slice:
			reversed := reflect.AppendSlice(reflect.MakeSlice(field.Type, 0, 2), old)
			reflect.Swapper(reversed.Interface())(0, 1)
			values = append(values, reflect.MakeSlice(field.Type, 0, 0), reversed)
		}
		for i, v := range values {
			q := p
			reflect.ValueOf(&q).Elem().FieldByIndex(field.Index).Set(v)
			if err := q.Validate(); err == nil {
				all = append(all, q)
			} else if i == 0 {
				t.Fatalf(invalid, err)
			}
		}
	}
	return all
}

// withText returns p with text in every field that can hold it.
func withText(p plants.Plant, text string) plants.Plant {
	for i := range reflect.TypeFor[plants.Plant]().NumField() {
		q := p
		setText(reflect.ValueOf(&q).Elem().Field(i), text)
		if q.Validate() == nil {
			p = q
		}
	}
	return p
}

// setText sets v, or what it points to, or its only element, to text. It sets
// other values to zero.
func setText(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setText(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setText(v.Index(0), text)
	}
}

// Difference describes the first field in which got and want differ. It returns
// "" if they are equal.
func Difference(got, want plants.Plant) string {
	w := reflect.ValueOf(want)
	for field, v := range reflect.ValueOf(got).Fields() {
		if g, w := v.Interface(), w.FieldByIndex(field.Index).Interface(); !reflect.DeepEqual(g, w) {
			return fmt.Sprintf("%s is %s, want %s", field.Name, show(g), show(w))
		}
	}
	return ""
}

// show formats v, a plant or a field of one, as JSON.
func show(v any) string {
	b, _ := json.Marshal(v) // never fails for the kinds that fill knows
	return string(b)
}

// oldPlant is the plant in the oldest record of each store: of alice, created
// with the idempotency key "key". A field that was added since has the value that
// [plants.Store] says.
var oldPlant = plants.Plant{ID: -7, Name: "fern"}

// TestOldRecord requires a store to treat a record of the first version of the
// program as one of its own. The test of each store has that record, byte by
// byte, and puts it into its storage.
func TestOldRecord(t *testing.T, store plants.Store) {
	if err := oldPlant.Validate(); err != nil {
		t.Fatalf("oldPlant in internal/plants/plantstest/fields.go: %v; give it the default of the new field", err)
	}
	s := suite{store}
	s.has(t, "alice", nil, 10, oldPlant)
	s.wantCreate(t, nil, "alice", oldPlant, "key") // a retry
	s.wantDelete(t, nil, "alice", oldPlant.ID)
	s.has(t, "alice", nil, 10)
}

// WantMethods requires names, which come from the named list in a test, to have
// all methods of [plants.Store].
func WantMethods(t testing.TB, list string, names ...string) {
	t.Helper()
	for m := range reflect.TypeFor[plants.Store]().Methods() {
		if !slices.Contains(names, m.Name) {
			t.Errorf("%s: add %s, a method of plants.Store", list, m.Name)
		}
	}
}
