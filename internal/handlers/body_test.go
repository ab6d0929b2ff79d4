package handlers

import (
	"strings"
	"testing"
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
		"[\"\xff\"]":              not + "[\"\ufffd\"]", // a message is valid UTF-8
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

// A member of another type is refused, with what was sent.
func TestTypesOfFields(t *testing.T) {
	for _, test := range []struct{ name, want, wrong string }{
		{"id", int64Rule, `null "1" 1.0 1.5 1e3 1e400 -0 9223372036854775808 -9223372036854775809 true [] {}`},
		{"name", "a string", `null 1 true {"a":[1]} []`},
		{"tag", "a string", `null 1 {}`},
	} {
		for value := range strings.FieldsSeq(test.wrong) {
			members := map[string]string{"id": "1", "name": `"x"`, "tag": `"y"`}
			members[test.name] = value
			_, err := decodePlant([]byte(`{"id":` + members["id"] + `,"name":` + members["name"] + `,"tag":` + members["tag"] + `}`))
			if want := test.name + " must be " + test.want + ", not " + value; text(err) != want {
				t.Errorf("%s: %v, want %s", value, err, want)
			}
		}
	}
	_, err := decodePlant([]byte(`{"id":1,"name":[ "` + strings.Repeat("ä", 80) + `" ]}`))
	if want := `name must be a string, not ["` + strings.Repeat("ä", 62) + "…"; text(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

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
		if _, err := decodePlant([]byte(body)); text(err) != want {
			t.Errorf("%s:\n got %s\nwant %s", body, text(err), want)
		}
	}
}
