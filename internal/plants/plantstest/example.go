package plantstest

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/plantstore/internal/plants"
)

// Example returns the plant for tests that need any plant. Each of its fields has a value, the
// one in the examples of api/openapi.yaml.
func Example(id int64) plants.Plant {
	return plants.Plant{ID: id, Name: "Basil", Tag: new("herb")}
}

// Minimal returns the other plant of those examples, without optional fields.
func Minimal(id int64) plants.Plant {
	return plants.Plant{ID: id, Name: "Ficus"}
}

// examples returns plants with the given id. The first is [Example]. Each of the others differs
// from it in one field.
func examples(id int64) []plants.Plant {
	all := slices.Repeat([]plants.Plant{Example(id)}, 4)
	all[1].Name = "Fern"
	all[2].Tag = nil
	all[3].Tag = new("")
	return all
}

// nthExample returns one of the [examples], which repeat after the last one.
func nthExample(id int64, i int) plants.Plant {
	all := examples(id)
	return all[i%len(all)]
}

// unusual returns plants that have an unusual string in each field.
func unusual() (all []plants.Plant) {
	for _, text := range unusualStrings {
		all = append(all, plants.Plant{Name: text, Tag: &text})
	}
	return all
}

// unusualStrings are strings that storage systems and encodings are known to
// change.
var unusualStrings = []string{
	"  x  ", "\r\nx\r\n\t", "a\x00b", "\x00", "line\u2028line\u2029line\u0085line", "\ufeffx", "x\ufffd\ufffe\uffff",
	"\u00e9", "e\u0301", "\u0301", "\u212b", "\ufb01", "ß", "ẞ", "ı", "İ",
	"\u200b\u200d\u202e", "\U0001f468\u200d\U0001f469",
	"\\", `\u0041`, `<a href="x">&amp;'`, `{"a":1}`, "%s%%", "null", "true", "0", "1e5", "name", "#name", ":name", "../..",
	strings.Repeat("\U0010ffff", 256), strings.Repeat(`"\`, 128),
	"\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f" +
		"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\u0080\u009f\u00a0",
}

// CreateJSON returns the body of a create of p. With include=id, a list contains p in the same
// form.
func CreateJSON(p plants.Plant) string {
	return encode(struct {
		ID int64 `json:"id"` // which the tags of a Plant leave out
		plants.Plant
	}{p.ID, p})
}

// ResponseJSON returns p as a response contains it, without its id.
func ResponseJSON(p plants.Plant) string { return encode(p) }

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: plants are strings and numbers
	}
	return string(text)
}
