package plantstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// This file uses reflection, so that tests cover a new field of plants.Plant
// without a change.

// invalid says how to fix a value that plantstest chose.
const invalid = "plantstest chose an invalid value: %v; make fill in internal/plants/plantstest/fields.go choose a valid one"

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

// fill sets v, a field of the given name, to the n-th of its values, none of
// which is zero except for a bool with an even n.
func fill(t testing.TB, name string, v reflect.Value, n int) {
	t.Helper()
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, name, v.Elem(), n)
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint(strings.ToLower(name), " ", n))
	case v.Kind() == reflect.Bool:
		v.SetBool(n%2 == 1)
	case v.CanInt():
		v.SetInt(int64(n))
	case v.CanUint():
		v.SetUint(uint64(n))
	default:
		t.Fatalf("plantstest has no values for Plant.%s: teach fill in internal/plants/plantstest/fields.go about the kind %s", name, v.Kind())
	}
}

// Variants returns valid plants, each of which differs from p in one field other
// than ID: the field has another value, or is zero or, for a pointer, nil. p must
// come from [Plant].
func Variants(t testing.TB, p plants.Plant) []plants.Plant {
	t.Helper()
	var all []plants.Plant
	for field := range reflect.TypeFor[plants.Plant]().Fields() {
		if field.Name == "ID" {
			continue
		}
		other := reflect.New(field.Type).Elem()
		fill(t, field.Name, other, 2) // Plant uses odd numbers
		values := []reflect.Value{other, reflect.Zero(field.Type)}
		if field.Type.Kind() == reflect.Pointer {
			values = append(values, reflect.New(field.Type.Elem()))
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

// show formats v, a plant or a field of one, as JSON in ASCII.
func show(v any) string {
	b, _ := json.Marshal(v) // never fails for the kinds that fill knows
	quoted := strconv.QuoteToASCII(string(b))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
