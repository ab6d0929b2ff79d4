package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

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
	case kind == jsontext.KindNumber && v.Type() == reflect.TypeFor[any]():
		return unmarshalAny(d, v)
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

// unmarshalAny reads a number into v, which has the type any, as a float64. That holds
// every integer up to 2^53, but rounds larger ones, so these are refused. A number with
// a fraction or an exponent may be rounded, as clients expect.
func unmarshalAny(d *jsontext.Decoder, v reflect.Value) error {
	number, err := d.ReadValue()
	if err != nil {
		return err
	}
	if isInteger := !bytes.ContainsAny(number, ".eE"); isInteger {
		n, ok := parseInt64(string(number))
		if !ok || n < -1<<53 || n > 1<<53 {
			return errors.New("an integer that float64 would round")
		}
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(f))
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
	case reflect.Int64:
		return int64Rule
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return `text in base64, such as "AAEC"`
		}
		return "a list of " + elementsRule(t.Elem())
	case reflect.Map:
		return "an object of " + elementsRule(t.Elem())
	case reflect.Interface:
		return "a JSON value without null and without integers beyond 2^53"
	}
	// The zero value is an example, such as "0001-01-01T00:00:00Z" for a time.
	return "like " + strings.TrimSpace(string(encode(reflect.Zero(t).Interface())))
}

// elementsRule says which elements of type t a list or a map can have.
func elementsRule(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "strings"
	case reflect.Bool:
		return "true and false"
	case reflect.Int64:
		return "integers in plain digits"
	case reflect.Interface:
		return "JSON values without null and without integers beyond 2^53"
	}
	return "values, each " + typeRule(t)
}

// int64Rule says what parseInt64 accepts.
const int64Rule = "an integer from -9223372036854775808 to 9223372036854775807 in plain digits"

// parseInt64 parses an int64 in its canonical decimal form: no plus sign, no
// leading zeros, no -0, no fraction, no exponent.
func parseInt64(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}
