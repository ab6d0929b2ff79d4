package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is a compiled JSON Schema.
type Schema struct{ *jsonschema.Schema }

// UnmarshalJSON compiles a schema without references.
func (s *Schema) UnmarshalJSON(text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(compileRegexp)
	if err := c.AddResource("schema.json", value); err != nil {
		return err
	}
	s.Schema, err = c.Compile("schema.json")
	return err
}

var unicodeEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)

// compileRegexp compiles a regular expression in the syntax of ECMA-262, the
// one of JSON Schema, as far as the document uses it.
func compileRegexp(s string) (jsonschema.Regexp, error) {
	return regexp.Compile(unicodeEscape.ReplaceAllString(s, `\x{$1}`))
}

// AllProperties returns the properties of s, by name, with those that it has
// from allOf.
func (s *Schema) AllProperties() map[string]*Schema {
	all := map[string]*Schema{}
	for _, base := range s.AllOf {
		maps.Copy(all, (&Schema{base}).AllProperties())
	}
	for name, property := range s.Properties {
		all[name] = &Schema{property}
	}
	return all
}

// checkJSON checks a body: exactly one JSON value that s allows. If closed is
// set, its objects must have no members other than the properties in s.
func (s *Schema) checkJSON(body []byte, closed bool) error {
	// IsValid rejects duplicate names, invalid UTF-8 and lone surrogates.
	if !jsontext.Value(body).IsValid() {
		return fmt.Errorf("malformed JSON, invalid UTF-8, a duplicate name or a second value")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return err
	}
	return s.checkStrictly(value, closed)
}

// checkText checks the value of a parameter or a header.
func (s *Schema) checkText(text string) error {
	if !s.IsInteger() {
		return s.Validate(text)
	}
	if !isPlain(text) {
		return fmt.Errorf("%q is not an int64 in plain digits", text)
	}
	return s.Validate(json.Number(text))
}

// checkStrictly checks what JSON Schema doesn't, on a value that s allows:
// integers are int64 in plain digits (to JSON Schema 1.0 is an integer too),
// and, if closed is set, all members are documented.
func (s *Schema) checkStrictly(value any, closed bool) error {
	switch value := value.(type) {
	case json.Number:
		if s.IsInteger() && !isPlain(value.String()) {
			return fmt.Errorf("%s is not an int64 in plain digits", value)
		}
	case []any:
		for _, element := range value {
			if s.Items2020 == nil {
				break
			}
			if err := (&Schema{s.Items2020}).checkStrictly(element, closed); err != nil {
				return err
			}
		}
	case map[string]any:
		properties := s.AllProperties()
		for name, member := range value {
			property, ok := properties[name]
			if !ok {
				if closed && len(properties) > 0 {
					return fmt.Errorf("undocumented member %q: add it under components/schemas", name)
				}
				continue
			}
			if err := property.checkStrictly(member, closed); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// IsInteger reports whether s is the schema of an integer.
func (s *Schema) IsInteger() bool {
	return s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer")
}

// isPlain reports whether s is an int64 in its shortest decimal form.
func isPlain(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s
}
