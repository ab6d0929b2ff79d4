package handlers

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/records"
	"example.com/plantstore/internal/records/recordstest"
)

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Each message says what is wrong with a body and where: for the frequent mistakes in our
// words, for the others in the decoder's.
func TestMalformedBodies(t *testing.T) {
	const example = `send one JSON object, such as {"id": 7, "name": "Basil"}`
	const not = `the body must be one JSON object, such as {"id": 7, "name": "Basil"}, not `
	for body, want := range map[string]string{
		"":                        `the body is empty; ` + example,
		" \r\n\t":                 `the body is empty; ` + example,
		"\ufeff{\"id\": 7}":       `the body begins with a byte order mark; send UTF-8 without one`,
		"{\x00\"\x00":             `the body looks like UTF-16; send UTF-8`,
		"\xfe\xff\x00{":           `the body looks like UTF-16; send UTF-8`,
		"\xff\xfe{\x00":           `the body looks like UTF-16; send UTF-8`,
		"\x00":                    `the body looks like UTF-16; send UTF-8`,
		"name=Basil":              not + `"name=Basil"`,
		"null":                    not + `null`,
		`"Basil"`:                 not + `"Basil"`,
		"[ 1,\n 2 ]":              not + `[1,2]`,
		strings.Repeat("\n7", 33): not + `"` + strings.Repeat(`\n7`, 32) + `…"`,

		`{id: 7}`:      `malformed JSON at byte 1: names need double quotes`,
		`{null: 7}`:    `malformed JSON at byte 1: names need double quotes`,
		"{\n \tid: 7}": `malformed JSON at byte 4: names need double quotes`,
		`{'id': 7}`:    `malformed JSON at byte 1: names need double quotes`,
		`{“id”: 7}`:    `malformed JSON at byte 1: names need double quotes`,
		`{_id: 7}`:     `malformed JSON at byte 1: names need double quotes`,
		`{7: 7}`:       `malformed JSON at byte 1: names need double quotes`,

		`{"id": 7, "id": 8}`:                            `duplicate name "id" at byte 10; give each name once`,
		`{"a": [{"b":1 ,"b":2}]}`:                       `duplicate name "b" at byte 15; give each name once`,
		`{"a": {"b": {"a": 1, "n\u0061": 1, "na": 2}}}`: `duplicate name "na" at byte 35; give each name once`,
		`{"~1/":1,"~1/":2}`:                             `duplicate name "~1/" at byte 9; give each name once`,
		`{"` + strings.Repeat("ä", 65) + `":1,"` + strings.Repeat("ä", 65) + `":2}`: `duplicate name "` + strings.Repeat("ä", 64) + `…" at byte 136; give each name once`,
		`{"id": 7}{"id": 8}`:     `send one object; another begins at byte 9`,
		"{\"id\": 7}\n {\"id\":": `send one object; another begins at byte 11`,

		`{`:                                   `malformed JSON at byte 1: unexpected EOF`,
		`{"id": [{}, "7`:                      `malformed JSON at byte 14: unexpected EOF`,
		`{"id": 7} x`:                         `malformed JSON at byte 10: invalid character 'x' after top-level value`,
		`{"id": 7}}`:                          `malformed JSON at byte 9: invalid character '}' after top-level value`,
		`{"id": 7,}`:                          `malformed JSON at byte 8: invalid character ',' at start of value`,
		`{"id" = 7}`:                          `malformed JSON at byte 6: invalid character '=' after object name (expecting ':')`,
		`{"id": 7{`:                           `malformed JSON at byte 8: invalid character '{' after object value (expecting ',' or '}')`,
		`{"id": 07}`:                          `malformed JSON at byte 8: invalid character '7' after object value (expecting ',' or '}')`,
		`{"name": Basil}`:                     `malformed JSON at byte 9: invalid character 'B' at start of value`,
		`{/**/ "id": 7}`:                      `malformed JSON at byte 1: invalid character '/' at start of value`,
		`{[1]: 7}`:                            `malformed JSON at byte 1: object member name must be a string`,
		"{\"name\": \"Ba\nsil\"}":             `malformed JSON at byte 12: invalid character '\n' in string (expecting non-control character)`,
		`{"name": "C:\Data"}`:                 "malformed JSON at byte 12: invalid escape sequence `\\D` in string",
		`{"name": "\ud83c"}`:                  "malformed JSON at byte 10: invalid surrogate pair `\\ud83c\"}` in string",
		"{\"name\": \"Basil\xe4\"}":           `malformed JSON at byte 15: invalid UTF-8`,
		`{"a": ` + strings.Repeat("[", 20000): `malformed JSON at byte 10005: exceeded max depth`,
	} {
		if _, err := decodeObject([]byte(body)); text(err) != want {
			t.Errorf("%.60q:\n got %s\nwant %s", body, text(err), want)
		}
	}
}

// A field of any kind has the same JSON in requests and in responses.
func TestKindsOfFields(t *testing.T) {
	checkKinds[recordstest.Sample]()
	for i, sample := range recordstest.Samples() {
		want := records.Record[recordstest.Sample]{ID: int64(i), Fields: sample}
		body := encode(want)
		if got, err := decodeRecord[recordstest.Sample](body); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("decodeRecord(%s): %v, %s", body, err, encode(got))
		}
	}
}

// A time is in UTC, as the stores return it: a retry must not differ from it.
func TestTimeOfAnotherZone(t *testing.T) {
	for _, at := range []string{"2026-01-01T00:00:00+00:00", "2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00.000Z"} {
		r, err := decodeRecord[kind[[]time.Time]]([]byte(`{"id":1,"field":["` + at + `"]}`))
		if want := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); err != nil || !reflect.DeepEqual(r.Fields.Field, []time.Time{want}) {
			t.Errorf("%s: %#v, %v", at, r.Fields.Field, err)
		}
	}
}

// JSON leaves out a pointer to the zero time, and so does a store that keeps JSON: a retry
// must not differ from it.
func TestPointerToZeroTime(t *testing.T) {
	r, err := decodeRecord[recordstest.Sample]([]byte(`{"id":1,"name":"","count":0,"done":false,"at":"0001-01-01T00:00:00Z","until":"0001-01-01T00:00:00Z"}`))
	if err != nil || r.Fields.Until != nil {
		t.Errorf("until is %v, error %v, want nil", r.Fields.Until, err)
	}
}

// Values of another type are refused with the type that the field has, and with what
// was sent. So is what Unmarshal would change silently, at any depth.
func TestTypesOfFields(t *testing.T) {
	const aTime = `a time, such as "2006-01-02T15:04:05Z"`
	for field, test := range map[string]struct{ want, wrong string }{
		"name":  {`a string`, `1 true {"a":[1]}`},
		"note":  {`a string`, `{}`},
		"count": {int64Rule, `-0 1.0 1e3 9223372036854775808 "1"`},
		"small": {`an integer from -2147483648 to 2147483647 in plain digits`, `-0 2147483648 -2147483649 1.5`},
		"done":  {`true or false`, `"true" 1`},
		"at":    {aTime, `"today" 1 "9999-12-31T23:59:59-01:00" "0000-01-01T00:00:00+01:00"`},
		"until": {aTime, `"2026-02-29T00:00:00Z"`},
		"parts": {`a list, each element a string`, `"a" {} [1] ["a",null]`},
		"sizes": {`a list, each element ` + int64Rule, `1 [1,-0] [1.0] [9223372036854775808] [null]`},
		"flags": {`a list, each element true or false`, `[null] [[true]]`},
		"days":  {`a list, each element ` + aTime, `[null] [1]`},
	} {
		for _, value := range strings.Fields(test.wrong + " null") {
			var members map[string]jsontext.Value
			if err := json.Unmarshal(encode(recordstest.Samples()[0]), &members); err != nil {
				t.Fatal(err)
			}
			members["id"], members[field] = jsontext.Value("1"), jsontext.Value(value)
			want := field + " must be " + test.want + ", not " + value
			if _, err := decodeRecord[recordstest.Sample](encode(members)); text(err) != want {
				t.Errorf("%s: %v, want %s", value, err, want)
			}
		}
	}
	_, err := decodeRecord[recordstest.Sample]([]byte(`{"id":1,"name":[ "` + strings.Repeat("ä", 80) + `" ]}`))
	if want := `name must be a string, not ["` + strings.Repeat("ä", 62) + "…"; text(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// kind is a resource with one field of type T.
type kind[T any] struct {
	Field T `json:"field"`
}

func (kind[T]) Validate() error { return nil }

// The routes of a resource with a field that could be rounded, or has no JSON, can't be built. The message
// is for the author of that field.
func TestRefusedKinds(t *testing.T) {
	for typ, build := range map[string]func(){
		"float64":                  func() { create[kind[float64]](nil) },
		"*float32":                 func() { create[kind[*float32]](nil) },
		"[]float64":                func() { create[kind[[]float64]](nil) },
		"[]*[]float64":             func() { create[kind[[]*[]float64]](nil) },
		"interface {}":             func() { create[kind[any]](nil) },
		"[]interface {}":           func() { create[kind[[]any]](nil) },
		"map[string]string":        func() { create[kind[map[string]string]](nil) },
		"[]map[string]int64":       func() { create[kind[[]map[string]int64]](nil) },
		"struct { Price float64 }": func() { create[kind[struct{ Price float64 }]](nil) },
		"uint64":                   func() { create[kind[uint64]](nil) },
		"[]uint8":                  func() { create[kind[[]byte]](nil) },
		"time.Duration":            func() { create[kind[time.Duration]](nil) },
	} {
		func() {
			defer func() {
				message, _ := recover().(string)
				if !strings.Contains(message, ".Field has the type "+typ+", which") {
					t.Errorf("%s: %q", typ, message)
				}
			}()
			build()
		}()
	}
	create[kind[[][]*time.Time]](nil)
	create[kind[*[]int8]](nil)
}

// named has a required field and an optional one.
type named struct {
	Name string `json:"name"`
	Tag  string `json:"tag,omitzero"`
}

func (named) Validate() error { return nil }

// A required member whose name has another case is missing. The message names both.
func TestNamesInAnotherCase(t *testing.T) {
	for body, want := range map[string]string{
		`{"ID":1,"name":"x"}`:                   `id is required: send it as "id", not "ID", since names are case-sensitive`,
		`{"Id":1,"ID":2,"iD":3}`:                `id is required: send it as "id", not "ID", since names are case-sensitive`,
		`{"id":1,"Name":"x","tag":"y"}`:         `name is required: send it as "name", not "Name", since names are case-sensitive`,
		`{"id":1,"names":"x"}`:                  `name is required`,
		`{"identity":1}`:                        `id is required and must be ` + int64Rule,
		`{"id":1,"ID":"2","name":"x","Name":3}`: ``,
		`{"id":1,"name":"x","Tag":3}`:           ``, // unknown, so ignored
	} {
		if _, err := decodeRecord[named]([]byte(body)); text(err) != want {
			t.Errorf("%s:\n got %s\nwant %s", body, text(err), want)
		}
	}
}
