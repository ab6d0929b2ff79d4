package handlers

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/records"
)

// decodeFields returns the fields in members, validated. A field is optional if its tag
// has omitzero: it may then be absent from responses, and so from requests too.
func decodeFields[T records.Fields](members map[string]jsontext.Value) (fields T, err error) {
	for field, v := range reflect.ValueOf(&fields).Elem().Fields() {
		name, optional := records.ParseTag(field.Tag)
		member, present := members[name]
		if !present && !optional {
			return fields, missing(name, name+" is required", members)
		}
		if present && json.Unmarshal(member, v.Addr().Interface(), exact) != nil {
			return fields, failf(CodeInvalidField, "%s must be %s, not %s", name, typeRule(v.Type()), quote(member))
		}
		if at, ok := v.Interface().(*time.Time); ok && present && optional && at.IsZero() {
			v.SetZero() // JSON leaves it out, so a store that keeps JSON would refuse a retry
		}
	}
	if err := fields.Validate(); err != nil {
		return fields, failf(CodeInvalidField, "%s", err)
	}
	return fields, nil
}

// missing returns the error for a body without the member name. It has the given
// message, unless a member has that name in another case.
func missing(name, message string, members map[string]jsontext.Value) error {
	for _, sent := range slices.Sorted(maps.Keys(members)) {
		if strings.EqualFold(sent, name) {
			message = fmt.Sprintf("%s is required: send it as %q, not %s, since names are case-sensitive", name, name, logging.Quote(sent))
			break
		}
	}
	return failf(CodeInvalidField, "%s", message)
}

// checkKinds panics if T has a field whose kind can't hold exactly what a client sends:
// a float64 rounds 9007199254740993, and an any keeps it as a float64. A field may
// be a string, a signed integer, a bool or a time, or a pointer to or a slice of these. A
// [time.Duration] has no JSON, so that the first response would fail.
func checkKinds[T records.Fields]() {
	for field := range reflect.TypeFor[T]().Fields() {
		if !isExact(field.Type) {
			panic(fmt.Sprintf("handlers: the field %v.%s has the type %v, which may not keep what a client sends: "+
				"use string, int64, bool or time.Time, or a pointer to or a slice of one", reflect.TypeFor[T](), field.Name, field.Type))
		}
	}
}

// isExact reports whether t is one of the types that checkKinds allows.
func isExact(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return t != reflect.TypeFor[time.Duration]()
	}
	return t == reflect.TypeFor[time.Time]()
}

// exact makes Unmarshal refuse, at any depth of a field, the values that it would change
// silently.
var exact = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, p any) error {
	v := reflect.ValueOf(p).Elem()
	kind := d.PeekKind()
	switch {
	case kind == jsontext.KindNull: // which Unmarshal takes for "" or 0
		return errors.New("null")
	case kind == jsontext.KindNumber && v.CanInt():
		return unmarshalInt(d, v)
	case kind == jsontext.KindString && v.Type() == reflect.TypeFor[time.Time]():
		return unmarshalTime(d, v)
	}
	return errors.ErrUnsupported // leaves the value to Unmarshal
}))

// unmarshalInt reads a number into v, which has an integer type. It refuses -0, which
// Unmarshal takes for 0.
func unmarshalInt(d *jsontext.Decoder, v reflect.Value) error {
	number, err := d.ReadValue()
	if err != nil {
		return err
	}
	n, ok := parseInt64(string(number))
	if !ok || v.OverflowInt(n) {
		return errors.New("not an integer in plain digits, or too large")
	}
	v.SetInt(n)
	return nil
}

// unmarshalTime reads a time into v, which has the type time.Time, and stores it in UTC.
// With another location it wouldn't be equal to the same time from the storage, so that a
// retry of the create would be refused. In UTC, a time may leave the years that JSON has.
func unmarshalTime(d *jsontext.Decoder, v reflect.Value) error {
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	t, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(text))
	if err != nil {
		return err
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return errors.New("out of range")
	}
	v.Set(reflect.ValueOf(t))
	return nil
}

// typeRule says which values decodeFields accepts for a field of type t.
func typeRule(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeRule(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct:
		return `a time, such as "2006-01-02T15:04:05Z"`
	case reflect.Slice:
		return "a list, each element " + typeRule(t.Elem())
	}
	most := int64(1)<<(t.Bits()-1) - 1
	return fmt.Sprintf("an integer from %d to %d in plain digits", -most-1, most)
}

// int64Rule says what parseInt64 accepts.
const int64Rule = "an integer from -9223372036854775808 to 9223372036854775807 in plain digits"

// parseInt64 parses an int64 in its canonical decimal form: no plus sign, no
// leading zeros, no -0, no fraction, no exponent.
func parseInt64(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}
