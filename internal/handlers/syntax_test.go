package handlers

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Each message says what is wrong with a body, where, and what to do.
func TestExplainSyntax(t *testing.T) {
	const example = `send one JSON object, such as {"id": 7, "name": "Basil"}`
	const not = `the body must be one JSON object, such as {"id": 7, "name": "Basil"}, not `
	for body, want := range map[string]string{
		"":                        `the body is empty; ` + example,
		" \r\n\t":                 `the body is empty; ` + example,
		"\ufeff{\"id\": 7}":       `the body begins with a byte order mark; send UTF-8 without one`,
		"{\x00\"\x00":             `the body looks like UTF-16; send UTF-8`,
		"\xfe\xff\x00{":           `the body looks like UTF-16; send UTF-8`,
		"name=Basil":              not + `"name=Basil"`,
		"null":                    not + `null`,
		`"Basil"`:                 not + `"Basil"`,
		"[ 1,\n 2 ]":              not + `[1,2]`,
		"\x00":                    `the body looks like UTF-16; send UTF-8`,
		strings.Repeat("\n7", 33): not + `"` + strings.Repeat(`\n7`, 32) + `…"`,

		`{`:                       `the body ends too early, at byte 1: is a } missing?`,
		`{"id": 7`:                `the body ends too early, at byte 8: is a } missing?`,
		`{"id": 7,`:               `the body ends too early, at byte 9: is a } missing?`,
		`{"id": `:                 `the body ends too early, at byte 7: is a } missing?`,
		`{"id": [7`:               `the body ends too early, at byte 9: is a ] missing?`,
		`{"id": [{}, "7`:          `the body ends too early, at byte 14: is a " missing?`,
		`{"id": "7}`:              `the body ends too early, at byte 10: is a " missing?`,
		`{"id`:                    `the body ends too early, at byte 4: is a " missing?`,
		`{"id": nul`:              `the body ends too early, at byte 10: is a } missing?`,
		`{"id": 7}{"id": 8}`:      `send one object; another begins at byte 9`,
		`{"id": 7} x`:             `malformed JSON at byte 10: nothing may follow the object`,
		`{"id": 7}}`:              `malformed JSON at byte 9: nothing may follow the object`,
		`{"id": 7, "id": 8}`:      `duplicate name "id" at byte 10; give each name once`,
		`{"a": [{"b":1 ,"b":2}]}`: `duplicate name "b" at byte 15; give each name once`,

		`{"id": 7,}`:       `the comma at byte 8 has nothing after it`,
		`{"id": 7,, "a":}`: `the comma at byte 8 has nothing after it`,
		`{"id": [7, ]}`:    `the comma at byte 9 has nothing after it`,
		`{"id": [7, }`:     `the comma at byte 9 has nothing after it`,
		`{"id": [,7]}`:     `the comma at byte 8 has nothing before it`,
		`{,"id": 7}`:       `the comma at byte 1 has nothing before it`,
		`{"id": , "a": 1}`: `malformed JSON at byte 7: a value is missing`,
		`{"id": }`:         `malformed JSON at byte 7: a value is missing`,
		`{"id":: 7}`:       `malformed JSON at byte 6: a value is missing`,
		`{"id" 7}`:         `malformed JSON at byte 6: a colon must follow the name`,
		`{"id" = 7}`:       `malformed JSON at byte 6: a colon must follow the name`,
		`{"id", 7}`:        `malformed JSON at byte 5: a colon must follow the name`,
		`{"id"}`:           `malformed JSON at byte 5: a colon must follow the name`,
		`{"id": 7 "a": 1}`: `malformed JSON at byte 9: a comma or } must follow the value`,
		`{"id": 7; "a": 1`: `malformed JSON at byte 8: a comma or } must follow the value`,
		`{"id": 7]`:        `malformed JSON at byte 8: a comma or } must follow the value`,
		`{"id": [7 8]}`:    `malformed JSON at byte 10: a comma or ] must follow the value`,
		`{"id": [7}`:       `malformed JSON at byte 9: a comma or ] must follow the value`,
		`{"id": [}`:        `malformed JSON at byte 8: a value is missing`,

		`{id: 7}`:              `malformed JSON at byte 1: names need double quotes`,
		`{name: x}`:            `malformed JSON at byte 1: names need double quotes`, // n may begin null
		`{null: 7}`:            `malformed JSON at byte 1: names need double quotes`,
		`{'id': 7}`:            `malformed JSON at byte 1: names need double quotes`,
		`{“id”: 7}`:            `malformed JSON at byte 1: names need double quotes`,
		`{"a": 1, 7: 7}`:       `malformed JSON at byte 9: names need double quotes`,
		`{"name": 'Basil'}`:    `malformed JSON at byte 9: strings need double quotes`,
		`{"name": “Basil”}`:    `malformed JSON at byte 9: strings need double quotes`,
		`{"name": Basil}`:      `malformed JSON at byte 9: Basil is not a JSON value; the only words without quotes are true, false and null`,
		`{"name": True}`:       `malformed JSON at byte 9: True is not a JSON value; the only words without quotes are true, false and null`,
		`{"name": nul}`:        `malformed JSON at byte 9: nul is not a JSON value; the only words without quotes are true, false and null`,
		`{"name": [NaN]}`:      `malformed JSON at byte 10: NaN is not a JSON value; the only words without quotes are true, false and null`,
		`{"name": nulls}`:      `malformed JSON at byte 13: a comma or } must follow the value`,
		`{"name": @}`:          `malformed JSON at byte 9: "@" can't begin a value`,
		"{\"name\": \xff}":     `malformed JSON at byte 9: "\xff" can't begin a value`,
		`{/* an id */ "id":7}`: `malformed JSON at byte 1: JSON has no comments`,
		`{"id": 7 // an id`:    `malformed JSON at byte 9: JSON has no comments`,
		`{"id": /**/ 7}`:       `malformed JSON at byte 7: JSON has no comments`,
		`{"id": 7, // an id`:   `malformed JSON at byte 10: JSON has no comments`,
		`{"id": 7} // an id`:   `malformed JSON at byte 10: nothing may follow the object`,

		`{"id": 07}`:        `malformed JSON at byte 8: numbers have no leading zeros`,
		`{"id": [-00]}`:     `malformed JSON at byte 10: numbers have no leading zeros`,
		`{"id": 0 7}`:       `malformed JSON at byte 9: a comma or } must follow the value`,
		`{"id": 0x10}`:      `malformed JSON at byte 8: a comma or } must follow the value`,
		`{"id": +1}`:        `malformed JSON at byte 7: numbers have no plus sign`,
		`{"id": .5}`:        `malformed JSON at byte 7: numbers begin with a digit`,
		`{"id": 1.}`:        `malformed JSON at byte 9: the number lacks a digit here`,
		`{"id": 1e}`:        `malformed JSON at byte 9: the number lacks a digit here`,
		`{"id": 1e+}`:       `malformed JSON at byte 10: the number lacks a digit here`,
		`{"id": [1, -]}`:    `malformed JSON at byte 12: the number lacks a digit here`,
		`{"id": -Infinity}`: `malformed JSON at byte 8: the number lacks a digit here`,

		"{\"name\": \"Ba\nsil\"}":      `malformed JSON at byte 12: write \n for a line break in a string`,
		"{\"name\": \"Ba\r\nsil\"}":    `malformed JSON at byte 12: write \n for a line break in a string`,
		"{\"na\tme\": \"Basil\"}":      `malformed JSON at byte 4: write \t for a tab in a string`,
		"{\"a\": [\"\x1f\"]}":          `malformed JSON at byte 8: write \u001f for this control character in a string`,
		`{"name": "C:\Plants"}`:        `malformed JSON at byte 12: no such escape; write \\ for a backslash`,
		`{"name": "\u12g4"}`:           `malformed JSON at byte 10: four hexadecimal digits must follow \u`,
		`{"name": "\u"}`:               `malformed JSON at byte 10: four hexadecimal digits must follow \u`,
		`{"name": "\ud83c"}`:           `malformed JSON at byte 10: half of a surrogate pair; send both halves, or the character itself`,
		`{"name": "x\uDF31\ud83c"}`:    `malformed JSON at byte 11: half of a surrogate pair; send both halves, or the character itself`,
		"{\"name\": \"Basil\xe4\"}":    `malformed JSON at byte 15: invalid UTF-8; send the body in UTF-8`,
		"{\"\xed\xa0\x80\": \"Basil\"": `malformed JSON at byte 2: invalid UTF-8; send the body in UTF-8`,

		`{"a": ` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`: `malformed JSON at byte 10005: too many levels of arrays and objects`,
	} {
		if _, err := decodeObject([]byte(body)); text(err) != want {
			t.Errorf("%.60q:\n got %s\nwant %s", body, text(err), want)
		}
	}
}

// messages are all that a malformed body gets, in words of our own.
var messages = regexp.MustCompile(`(?s)^(the body is empty; .*|the body begins with a byte order mark; send UTF-8 without one|the body looks like UTF-16; send UTF-8|` +
	`the body must be one JSON object, such as \{"id": 7, "name": "Basil"\}, not .+|` +
	`the body ends too early, at byte \d+: is a []"}] missing\?|send one object; another begins at byte \d+|` +
	`duplicate name ".*" at byte \d+; give each name once|the comma at byte \d+ has nothing (after|before) it|` +
	`malformed JSON at byte \d+: (nothing may follow the object|JSON has no comments|a (colon must follow the name|comma or []}] must follow the value|value is missing)|` +
	`(names|strings) need double quotes|numbers (have no (leading zeros|plus sign)|begin with a digit)|the number lacks a digit here|[\pL\pN_$]+…? is not a JSON value; .*|` +
	`write \\(n for a line break|t for a tab|u00[01][0-9a-f] for this control character) in a string|half of a surrogate pair; .*|four hexadecimal digits must follow \\u|` +
	`no such escape; write \\\\ for a backslash|invalid UTF-8; send the body in UTF-8|too many levels of arrays and objects|".{1,10}" can't begin a value))$`)

// place matches the byte that a message names.
var place = regexp.MustCompile(`(?s)^(?:malformed JSON|the comma|the body ends|send one object|duplicate name).*byte (\d+)`)

// FuzzSyntax tries bodies. Each that is refused gets one of the messages.
func FuzzSyntax(f *testing.F) {
	f.Add([]byte(broken(rand.New(rand.NewPCG(0, 0)))))
	f.Fuzz(func(t *testing.T, body []byte) { checkSyntax(t, body) })
}

// Thousands of bodies, each broken in one to three places.
func TestBrokenBodies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		checkSyntax(t, []byte(broken(random)))
	}
}

// checkSyntax checks that a body is accepted exactly if it is one object. The message of
// a refused one must be known and short, and what comes before the byte that it names
// must be the beginning of an object.
func checkSyntax(t *testing.T, body []byte) {
	t.Helper()
	_, err := decodeObject(body)
	if v := jsontext.Value(body); (err == nil) != (v.IsValid() && v.Kind() == '{') {
		t.Errorf("%q: %v", body, err)
	}
	if err == nil {
		return
	}
	if !messages.MatchString(text(err)) || utf8.RuneCountInString(text(err)) > 400 {
		t.Errorf("%q: %s", body, err)
	}
	if m := place.FindStringSubmatch(text(err)); m != nil {
		n, _ := strconv.Atoi(m[1])
		if _, err := decodeObject(body[:n]); err != nil && !strings.HasPrefix(text(err), "the body ends too early") {
			t.Errorf("%q: %s, but before that byte: %s", body, m[0], err)
		}
	}
}

// broken returns a body with one to three faults.
func broken(random *rand.Rand) string {
	body := `{"id": 7, "name": "Basil \u00e4ä\n\ud83c\udf31", "x": [{"a": -0.5e+3, "b": [true, false, null, []]}, "🌱", {}], "": 0}`
	pieces := strings.Split(`{ } [ ] , : " ' \ / // /* - + . 0 1 7 e E 01 true nul NaN undefined \u \ud83c \udf31 \x = ; # id name id" "id": “ ä`, " ")
	pieces = append(pieces, " ", "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "\xff", "\xed\xa0\x80", "\ufeff", body)
	for range 1 + random.IntN(3) {
		i := random.IntN(len(body) + 1)
		j := i + random.IntN(min(len(body)-i, 4)+1)
		switch random.IntN(4) {
		case 0: // end early
			body = body[:i]
		case 1: // begin late
			body = body[i:]
		default: // insert or replace
			body = body[:i] + pieces[random.IntN(len(pieces))] + body[j:]
		}
	}
	return body
}
