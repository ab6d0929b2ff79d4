// Package plants defines the plant, its rules, and the contract of the stores that keep
// plants.
//
// It imports nothing of HTTP or databases. The tags of the fields say how others write them.
package plants

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Length limits of a plant's fields, in Unicode code points.
const (
	MaxNameLength = 256
	MaxTagLength  = 256
)

// A Plant is one plant of one owner. Stores embed it in what they store, and responses are its JSON. An
// optional field is a pointer: nil is left out, and an empty value is kept.
type Plant struct {
	// ID identifies the plant among the plants of all owners. Every int64 is valid. It is left
	// out of JSON, since responses lack it: a list with include=id adds it, and bbolt has it in
	// the key.
	ID int64 `json:"-" dynamodbav:"id"`

	// Name has 1 to MaxNameLength code points, at least one of which is not
	// white space. Control characters are allowed.
	Name string `json:"name" dynamodbav:"name"`

	// Tag has at most MaxTagLength code points. It is nil if the plant has no
	// tag, which differs from an empty tag.
	Tag *string `json:"tag,omitzero" dynamodbav:"tag,omitempty"`
}

// Equal reports whether all fields of p and q are equal.
func (p Plant) Equal(q Plant) bool { return reflect.DeepEqual(p, q) }

// Validate returns an error for the first rule that p breaks. Its text is a
// sentence that names the field and can be shown to a client. Strings must be UTF-8, which the
// JSON decoder checks.
func (p Plant) Validate() error {
	switch {
	case utf8.RuneCountInString(p.Name) > MaxNameLength:
		return fmt.Errorf("name must have at most %d characters", MaxNameLength)
	case p.Name == "":
		return errors.New("name must not be empty")
	case strings.TrimSpace(p.Name) == "":
		return errors.New("name must not be only white space")
	case p.Tag != nil && utf8.RuneCountInString(*p.Tag) > MaxTagLength:
		return fmt.Errorf("tag must have at most %d characters", MaxTagLength)
	}
	return nil
}
