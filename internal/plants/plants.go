// Package plants is the domain of the service: the plant, the rules of its
// fields, and the contract of the stores that keep plants.
//
// It knows neither HTTP nor a database.
package plants

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a plant's fields, in Unicode code points.
const (
	MinNameLength = 1
	MaxNameLength = 256
	MaxTagLength  = 256
)

// A Plant is one plant of one owner.
type Plant struct {
	// ID identifies the plant among those of all owners. Every int64 is valid.
	ID int64

	// Name has MinNameLength to MaxNameLength code points, not only white
	// space. Control characters are allowed.
	Name string

	// Tag has at most MaxTagLength code points. It is nil if the plant has no
	// tag, which is not the same as an empty one.
	Tag *string
}

// A FieldError says which field of a plant breaks which rule.
type FieldError struct {
	Field string // as the client knows it: "name", "tag"
	Rule  string // completes the sentence "<field> …": "must not be blank"
}

// Error returns the whole sentence, fit to be shown to a client.
func (e *FieldError) Error() string { return e.Field + " " + e.Rule }

// Validate returns a [*FieldError] for the first rule that p breaks, or nil.
func (p Plant) Validate() error {
	if !utf8.ValidString(p.Name) {
		return &FieldError{"name", "must be valid UTF-8"}
	}
	switch n := utf8.RuneCountInString(p.Name); {
	case n < MinNameLength:
		return &FieldError{"name", "must not be empty"}
	case n > MaxNameLength:
		return &FieldError{"name", "must have at most 256 characters"}
	}
	if strings.TrimFunc(p.Name, unicode.IsSpace) == "" {
		return &FieldError{"name", "must not be only white space"}
	}
	if p.Tag == nil {
		return nil
	}
	if !utf8.ValidString(*p.Tag) {
		return &FieldError{"tag", "must be valid UTF-8"}
	}
	if utf8.RuneCountInString(*p.Tag) > MaxTagLength {
		return &FieldError{"tag", "must have at most 256 characters"}
	}
	return nil
}

// Same reports whether p and q say the same of a plant: the same id, the same
// name, and the same tag or both none.
func (p Plant) Same(q Plant) bool {
	if p.ID != q.ID || p.Name != q.Name || (p.Tag == nil) != (q.Tag == nil) {
		return false
	}
	return p.Tag == nil || *p.Tag == *q.Tag
}
