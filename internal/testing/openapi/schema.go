package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is a compiled JSON Schema.
type Schema struct{ *jsonschema.Schema }

// UnmarshalJSON compiles a schema without references. Its patterns must be in the syntax that
// RE2 and ECMAScript share, so that Go's validators can read the document.
func (s *Schema) UnmarshalJSON(text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	for _, name := range []string{"int32", "int64"} { // minimum and maximum say how large an int32 may be
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: checkInteger})
	}
	c.AssertFormat()
	if err := c.AddResource("schema.json", value); err != nil {
		return err
	}
	s.Schema, err = c.Compile("schema.json")
	return err
}

// checkJSON checks a body: exactly one JSON value that s allows.
func (s *Schema) checkJSON(body []byte) error {
	// IsValid rejects duplicate names, invalid UTF-8 and lone surrogates.
	if !jsontext.Value(body).IsValid() {
		return fmt.Errorf("malformed JSON, invalid UTF-8, a duplicate name or a second value")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// checkText checks the value of a parameter or a header.
func (s *Schema) checkText(text string) error {
	if !s.isInteger() {
		return s.Validate(text)
	}
	if err := checkInteger(json.Number(text)); err != nil {
		return err
	}
	return s.Validate(json.Number(text))
}

func (s *Schema) isInteger() bool {
	return s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer")
}

// checkInteger checks the format int64: a number must be an int64 in
// its shortest decimal form. To JSON Schema, 1.0 is an integer too. The keywords
// minimum and maximum check bounds.
func checkInteger(value any) error {
	text, ok := value.(json.Number)
	if n, err := text.Int64(); ok && (err != nil || strconv.FormatInt(n, 10) != text.String()) {
		return fmt.Errorf("%q is not an int64 in plain digits", text)
	}
	return nil
}

// Members returns the names of the members of an object, or of the elements of an array.
func (s *Schema) Members() (names []string) {
	if s.Items2020 != nil {
		return (&Schema{s.Items2020}).Members()
	}
	return slices.Collect(maps.Keys(s.Properties))
}
