// Package plants defines the plant, its rules, and the contract of the stores that keep
// plants.
//
// It knows nothing about HTTP or databases.
package plants

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Length limits of a plant's fields, in Unicode code points.
const (
	MaxNameLength = 256
	MaxTagLength  = 256
)

// A Plant is one plant of one owner.
type Plant struct {
	// ID identifies the plant among the plants of all owners. Every int64 is valid.
	ID int64

	// Name has 1 to MaxNameLength code points, at least one of which is not
	// white space. Control characters are allowed.
	Name string

	// Tag has at most MaxTagLength code points. It is nil if the plant has no
	// tag, which differs from an empty tag.
	Tag *string
}

// Equal reports whether p and q have the same id, name and tag.
func (p Plant) Equal(q Plant) bool {
	sameTag := p.Tag == nil && q.Tag == nil || p.Tag != nil && q.Tag != nil && *p.Tag == *q.Tag
	return p.ID == q.ID && p.Name == q.Name && sameTag
}

// Validate returns an error for the first rule that p breaks. Its text is a
// sentence that names the field and can be shown to a client.
func (p Plant) Validate() error {
	if err := validateText("name", p.Name, MaxNameLength); err != nil {
		return err
	}
	if p.Name == "" {
		return errors.New("name must not be empty")
	}
	if strings.TrimSpace(p.Name) == "" {
		return errors.New("name must not be only white space")
	}
	if p.Tag != nil {
		return validateText("tag", *p.Tag, MaxTagLength)
	}
	return nil
}

// validateText returns an error if s is not UTF-8 or longer than limit, in code
// points.
func validateText(field, s string, limit int) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s must be valid UTF-8", field)
	}
	if utf8.RuneCountInString(s) > limit {
		return fmt.Errorf("%s must have at most %d characters", field, limit)
	}
	return nil
}
