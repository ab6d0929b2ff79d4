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
	for _, name := range []string{"int32", "int64"} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: checkInteger})
	}
	c.AssertFormat()
	if err := c.AddResource("schema.json", value); err != nil {
		return err
	}
	s.Schema, err = c.Compile("schema.json")
	return err
}

var unicodeEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)

// compileRegexp compiles a regular expression in the syntax of JSON Schema, that
// of ECMA-262. Of the differences from Go it knows the one that the document
// uses.
func compileRegexp(s string) (jsonschema.Regexp, error) {
	return regexp.Compile(unicodeEscape.ReplaceAllString(s, `\x{$1}`))
}

// AllProperties returns the properties of s by name, including those from allOf.
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
	if err := s.Validate(value); err != nil || !closed {
		return err
	}
	return s.checkMembers(value)
}

// checkText checks the value of a parameter or a header.
func (s *Schema) checkText(text string) error {
	if !s.IsInteger() {
		return s.Validate(text)
	}
	if err := checkInteger(json.Number(text)); err != nil {
		return err
	}
	return s.Validate(json.Number(text))
}

// checkMembers checks that all members of the objects in value are documented.
func (s *Schema) checkMembers(value any) error {
	if elements, ok := value.([]any); ok && s.Items2020 != nil {
		for _, element := range elements {
			if err := (&Schema{s.Items2020}).checkMembers(element); err != nil {
				return err
			}
		}
	}
	members, _ := value.(map[string]any)
	properties := s.AllProperties()
	for name, member := range members {
		if properties[name] == nil {
			return fmt.Errorf("undocumented member %q: add it under components/schemas", name)
		}
		if err := properties[name].checkMembers(member); err != nil {
			return err
		}
	}
	return nil
}

// IsInteger reports whether s is the schema of an integer.
func (s *Schema) IsInteger() bool {
	return s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer")
}

// checkInteger checks the formats int32 and int64: a number must be an int64 in
// its shortest decimal form. To JSON Schema, 1.0 is an integer too. Bounds are
// checked by minimum and maximum.
func checkInteger(value any) error {
	text, ok := value.(json.Number)
	if n, err := text.Int64(); ok && (err != nil || strconv.FormatInt(n, 10) != text.String()) {
		return fmt.Errorf("%q is not an int64 in plain digits", text)
	}
	return nil
}
