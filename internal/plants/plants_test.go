package plants_test

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

const wide = "\U0010ffff" // four bytes, one code point

func TestName(t *testing.T) {
	for _, test := range []struct{ title, name, want string }{
		{"one character", "x", ""},
		{"longest", strings.Repeat(wide, 256), ""},
		{"too long", strings.Repeat("x", 257), "name must have at most 256 characters"},
		{"combining marks count", strings.Repeat("e\u0301", 129), "name must have at most 256 characters"},
		{"empty", "", "name must not be empty"},
		{"Unicode white space", "\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u0085\t\n\v\f\r",
			"name must not be only white space"},
		{"surrounding white space", " x ", ""},
		{"zero-width space is not white space", "\u200b", ""},
		{"not UTF-8", "x\xff", "name must be valid UTF-8"},
		{"lone surrogate", "\xed\xa0\x80", "name must be valid UTF-8"},
	} {
		p := plantstest.Example(7)
		p.Name = test.name
		validate(t, test.title, p, test.want)
	}
}

func TestTag(t *testing.T) {
	for _, test := range []struct {
		title string
		tag   *string
		want  string
	}{
		{"absent", nil, ""},
		{"empty", new(""), ""},
		{"blank", new(" "), ""},
		{"longest", new(strings.Repeat(wide, 256)), ""},
		{"too long", new(strings.Repeat("x", 257)), "tag must have at most 256 characters"},
		{"not UTF-8", new("\xff"), "tag must be valid UTF-8"},
	} {
		p := plantstest.Example(7)
		p.Tag = test.tag
		validate(t, test.title, p, test.want)
	}
}

// validate requires Validate to return an error with this text, or none if it is empty.
func validate(t *testing.T, title string, p plants.Plant, want string) {
	t.Helper()
	got := ""
	if err := p.Validate(); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s: error %q, want %q", title, got, want)
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
		inJSON, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inItem, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		name := cmp.Or(inJSON, inItem, "…")
		want := fmt.Sprintf(`json:"%s" dynamodbav:"%[1]s"`, name)
		switch {
		case field.Name == "ID":
			want = `json:"-" dynamodbav:"id"`
		case field.Type.Kind() == reflect.Pointer:
			want = fmt.Sprintf(`json:"%s,omitzero" dynamodbav:"%[1]s,omitempty"`, name)
		}
		if string(field.Tag) != want {
			t.Errorf("the field %s has the tags %s, want %s (an optional field is a pointer, even to a slice)",
				field.Name, field.Tag, want)
		}
	}
}
