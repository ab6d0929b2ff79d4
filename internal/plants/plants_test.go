package plants_test

import (
	"fmt"
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

// Plants are equal if their fields are, whatever their pointers.
func TestEqual(t *testing.T) {
	full := plants.Plant{ID: 7, Name: "Basil", Tag: new("herb")}
	if !full.Equal(plants.Plant{ID: 7, Name: "Basil", Tag: new("herb")}) {
		t.Error("a plant differs from its copy")
	}
	for _, other := range []plants.Plant{
		{ID: 8, Name: "Basil", Tag: new("herb")}, {ID: 7, Name: "Fern", Tag: new("herb")},
		{ID: 7, Name: "Basil", Tag: new("")}, {ID: 7, Name: "Basil"},
	} {
		if full.Equal(other) {
			t.Errorf("the plants %v and %v are equal", full, other)
		}
	}
}

// The tags give each field one name, in JSON and in DynamoDB. They leave an optional field out if
// it is nil, and only then: omitempty in JSON would drop "", and without it DynamoDB gets a NULL.
func TestTags(t *testing.T) {
	for field := range reflect.TypeFor[plants.Plant]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		want := fmt.Sprintf(`json:"%s" dynamodbav:"%[1]s"`, name)
		switch {
		case field.Name == "ID":
			want = `json:"-" dynamodbav:"id"`
		case field.Type.Kind() == reflect.Pointer:
			want = fmt.Sprintf(`json:"%s,omitzero" dynamodbav:"%[1]s,omitempty"`, name)
		}
		if name == "" || string(field.Tag) != want {
			t.Errorf("the field %s has the tags %s, want %s", field.Name, field.Tag, want)
		}
	}
}
