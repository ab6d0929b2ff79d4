package handlers

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
		`{"name": "C:\Plants"}`:               "malformed JSON at byte 12: invalid escape sequence `\\P` in string",
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
	r := recordstest.New[recordstest.Sample](t, 1)
	for _, want := range append(recordstest.Variants(t, r), r) {
		body := encode(want)
		got, err := decodeRecord[recordstest.Sample](body)
		if d := recordstest.Difference(got, want); err != nil || d != "" {
			t.Fatalf("decodeRecord(%s): %v, %s", body, err, d)
		}
	}
}

// Values of another type are refused with the type that the field has, and with what
// was sent.
func TestTypesOfFields(t *testing.T) {
	for field, test := range map[string]struct{ want, wrong string }{
		"name":   {`a string`, `1 true {"a":[1]}`},
		"note":   {`a string`, `{}`},
		"count":  {int64Rule, `-0 1.0 1e3 9223372036854775808 "1"`},
		"done":   {`true or false`, `"true" 1`},
		"at":     {`like "0001-01-01T00:00:00Z"`, `"today"`},
		"parts":  {`a list of strings`, `"a" {} [1] ["a",null]`},
		"labels": {`an object of strings`, `[] {"a":1} {"a":null}`},
	} {
		for _, value := range strings.Fields(test.wrong + " null") {
			var members map[string]jsontext.Value
			if err := json.Unmarshal(encode(recordstest.New[recordstest.Sample](t, 1)), &members); err != nil {
				t.Fatal(err)
			}
			members[field] = jsontext.Value(value)
			want := field + " must be " + test.want + ", not " + value
			if _, err := decodeRecord[recordstest.Sample](encode(members)); err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", value, err, want)
			}
		}
	}
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

// deep has the kinds of fields that recordstest.Sample lacks.
type deep struct {
	Lists   [][]int64           `json:"lists,omitzero"`
	Numbers map[string]int32    `json:"numbers,omitzero"`
	Flags   []bool              `json:"flags,omitzero"`
	Any     []any               `json:"any,omitzero"`
	Parts   []struct{ N int64 } `json:"parts,omitzero"`
	Floats  []float64           `json:"floats,omitzero"`
	Texts   []*string           `json:"texts,omitzero"`
	Bytes   []byte              `json:"bytes,omitzero"`
	Value   any                 `json:"value,omitzero"`
}

func (deep) Validate() error { return nil }

// What Unmarshal would change silently is refused at any depth. The message repeats at
// most 64 characters.
func TestDeepFields(t *testing.T) {
	for member, want := range map[string]string{
		`"lists":[[-0]]`:                                 "lists must be a list of values, each a list of integers in plain digits, not [[-0]]",
		`"lists":[[1],null]`:                             "lists must be a list of values, each a list of integers in plain digits, not [[1],null]",
		`"numbers":{"a":2147483648}`:                     "numbers must be an object of values, each like 0, not {\"a\":2147483648}",
		`"flags":[null]`:                                 "flags must be a list of true and false, not [null]",
		`"any":[[{"a":9007199254740993}]]`:               "any must be a list of JSON values without null and without integers beyond 2^53, not [[{\"a\":9007199254740993}]]",
		`"any":[9223372036854775807]`:                    "any must be a list of JSON values without null and without integers beyond 2^53, not [9223372036854775807]",
		`"any":[{"a":null}]`:                             "any must be a list of JSON values without null and without integers beyond 2^53, not [{\"a\":null}]",
		`"parts":[{"N":-0}]`:                             `parts must be a list of values, each like {"N":0}, not [{"N":-0}]`,
		`"bytes":"%"`:                                    `bytes must be text in base64, such as "AAEC", not "%"`,
		`"bytes":[1]`:                                    `bytes must be text in base64, such as "AAEC", not [1]`,
		`"texts":[null]`:                                 "texts must be a list of values, each a string, not [null]",
		`"value":null`:                                   "value must be a JSON value without null and without integers beyond 2^53, not null",
		`"value":[{"a":9007199254740993}]`:               "value must be a JSON value without null and without integers beyond 2^53, not [{\"a\":9007199254740993}]",
		`"flags": [ "` + strings.Repeat("ä", 80) + `" ]`: `flags must be a list of true and false, not ["` + strings.Repeat("ä", 62) + "…",
		`"any":[9007199254740992,-1.5,1e3,true,"x",{}]`:  "",
		`"value":-9007199254740992`:                      "",
		`"lists":[[9007199254740993],[]],"numbers":{"a":-1},"parts":[{"N":1,"M":null}],"floats":[-0.0,1.5],"bytes":"AAEC"`: "",
	} {
		_, err := decodeRecord[deep]([]byte(`{"id":1,` + member + `}`))
		if got := text(err); got != want {
			t.Errorf("%s:\n got %s\nwant %s", member, got, want)
		}
	}
}
