package plants_test

import (
	"reflect"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

func TestValidate(t *testing.T) {
	const wide = "\U0010ffff" // four bytes, one code point
	for _, test := range []struct {
		title string
		name  string
		tag   *string
		want  string // the error, or "" for none
	}{
		{"one character", "x", nil, ""},
		{"longest name", strings.Repeat(wide, 256), nil, ""},
		{"name too long", strings.Repeat("x", 257), nil, "name must have at most 256 characters"},
		{"combining marks count", strings.Repeat("e\u0301", 129), nil, "name must have at most 256 characters"},
		{"empty name", "", nil, "name must not be empty"},
		{"Unicode white space", "\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u0085\t\n\v\f\r", nil, "name must not be only white space"},
		{"surrounding white space", " x ", nil, ""},
		{"zero-width space is not white space", "\u200b", nil, ""},
		{"not UTF-8", "x\xff", nil, "name must be valid UTF-8"},
		{"lone surrogate", "\xed\xa0\x80", nil, "name must be valid UTF-8"},
		{"empty tag", "x", new(""), ""},
		{"blank tag", "x", new(" "), ""},
		{"longest tag", "x", new(strings.Repeat(wide, 256)), ""},
		{"tag too long", "x", new(strings.Repeat("x", 257)), "tag must have at most 256 characters"},
		{"tag not UTF-8", "x", new("\xff"), "tag must be valid UTF-8"},
	} {
		t.Run(test.title, func(t *testing.T) {
			got := ""
			if err := (plants.Plant{Name: test.name, Tag: test.tag}).Validate(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("error %q, want %q", got, test.want)
			}
		})
	}
}

// Plants are equal only if all their fields are.
func TestEqual(t *testing.T) {
	full := plants.Plant{ID: 7, Name: "Basil", Tag: new("herb")}
	if !full.Equal(plants.Plant{ID: 7, Name: "Basil", Tag: new("herb")}) {
		t.Error("a plant differs from its copy")
	}
	untagged := plants.Plant{ID: 7, Name: "Basil"}
	if emptyTag := (plants.Plant{ID: 7, Name: "Basil", Tag: new("")}); emptyTag.Equal(untagged) || untagged.Equal(emptyTag) {
		t.Error("an empty tag equals no tag")
	}
	if full.Equal(plants.Plant{ID: 7, Name: "Basil", Tag: new("fern")}) {
		t.Error("the tags herb and fern are equal")
	}
	for field := range reflect.TypeFor[plants.Plant]().Fields() {
		other := full
		reflect.ValueOf(&other).Elem().FieldByIndex(field.Index).SetZero()
		if full.Equal(other) || other.Equal(full) {
			t.Errorf("Equal ignores %s, or full has no value for it: add one in this test", field.Name)
		}
	}
}
