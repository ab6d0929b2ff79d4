package plants

import (
	"errors"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	const wide = "\U0010ffff" // four bytes, one code point
	tests := []struct {
		title string
		name  string
		tag   *string
		want  string // the error, "" for none
	}{
		{"one character", "x", nil, ""},
		{"longest name", strings.Repeat(wide, 256), nil, ""},
		{"name too long", strings.Repeat("x", 257), nil, "name must have at most 256 characters"},
		{"name too long in wide characters", strings.Repeat(wide, 257), nil, "name must have at most 256 characters"},
		{"combining marks count", strings.Repeat("e\u0301", 129), nil, "name must have at most 256 characters"},
		{"no name", "", nil, "name must not be empty"},
		{"spaces", "   ", nil, "name must not be only white space"},
		{"wide white space", "\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u0085\t\n\v\f\r", nil, "name must not be only white space"},
		{"white space, too long", strings.Repeat(" ", 257), nil, "name must have at most 256 characters"},
		{"white space around", " x ", nil, ""},
		{"zero-width space is none", "\u200b", nil, ""},
		{"control character", "\x00", nil, ""},
		{"replacement character", "\ufffd", nil, ""},
		{"not UTF-8", "x\xff", nil, "name must be valid UTF-8"},
		{"half of a surrogate pair", "\xed\xa0\x80", nil, "name must be valid UTF-8"},
		{"overlong", "\xc0\x80", nil, "name must be valid UTF-8"},
		{"empty tag", "x", new(""), ""},
		{"blank tag", "x", new(" "), ""},
		{"longest tag", "x", new(strings.Repeat(wide, 256)), ""},
		{"tag too long", "x", new(strings.Repeat("x", 257)), "tag must have at most 256 characters"},
		{"tag not UTF-8", "x", new("\xff"), "tag must be valid UTF-8"},
		{"name before tag", "", new("\xff"), "name must not be empty"},
	}
	for _, test := range tests {
		t.Run(test.title, func(t *testing.T) {
			err := Plant{Name: test.name, Tag: test.tag}.Validate()
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || err.Error() != test.want {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			var field *FieldError
			if !errors.As(err, &field) || !strings.HasPrefix(test.want, field.Field+" ") {
				t.Errorf("%#v is no FieldError of its field", err)
			}
		})
	}
}

func TestEveryIDIsValid(t *testing.T) {
	for _, id := range []int64{-1 << 63, -1, 0, 1, 1<<63 - 1} {
		if err := (Plant{ID: id, Name: "x"}).Validate(); err != nil {
			t.Errorf("id %d: %v", id, err)
		}
	}
}

func TestSame(t *testing.T) {
	p := Plant{ID: 1, Name: "name", Tag: new("tag")}
	untagged, emptyTag := Plant{ID: 1, Name: "name"}, Plant{ID: 1, Name: "name", Tag: new("")}
	tests := []struct {
		title string
		a, b  Plant
		want  bool
	}{
		{"itself", p, p, true},
		{"equal tags in two places", p, Plant{ID: 1, Name: "name", Tag: new("tag")}, true},
		{"both without tag", untagged, Plant{ID: 1, Name: "name"}, true},
		{"both with empty tag", emptyTag, Plant{ID: 1, Name: "name", Tag: new("")}, true},
		{"another id", p, Plant{ID: 2, Name: "name", Tag: p.Tag}, false},
		{"another name", p, Plant{ID: 1, Name: "Name", Tag: p.Tag}, false},
		{"another tag", p, Plant{ID: 1, Name: "name", Tag: new("tag ")}, false},
		{"a tag and none", p, untagged, false},
		{"an empty tag and none", emptyTag, untagged, false},
		{"equal only when normalised", Plant{Name: "\u00e9"}, Plant{Name: "e\u0301"}, false},
	}
	for _, test := range tests {
		t.Run(test.title, func(t *testing.T) {
			if got := test.a.Same(test.b); got != test.want {
				t.Errorf("a.Same(b) = %t", got)
			}
			if got := test.b.Same(test.a); got != test.want {
				t.Errorf("b.Same(a) = %t", got)
			}
		})
	}
}

// Callers tell the errors apart with errors.Is, so none may match another.
func TestErrorsAreDistinct(t *testing.T) {
	all := []error{ErrInUse, ErrTokenReused, ErrNotFound, ErrThrottled, ErrUnreachable}
	for i, a := range all {
		for j, b := range all {
			if errors.Is(a, b) != (i == j) {
				t.Errorf("errors.Is(%q, %q) = %t", a, b, i != j)
			}
		}
	}
}
