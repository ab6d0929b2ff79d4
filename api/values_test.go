package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/plantstore/test/openapi"
)

// values returns JSON values within and beyond the bounds of s, and some that most
// members refuse. The example is valid.
func values(s *openapi.Schema, example string) []string {
	all := []string{example, "null", "1", "true", "[]", "{}", `"x"`, `" "`, `"\u0000"`, `"\u0085"`}
	for _, text := range texts(s, strings.Trim(example, `"`)) {
		quoted, _ := json.Marshal(text)
		all = append(all, text, string(quoted)) // an integer, or not JSON at all; a string
	}
	return append(append(all, lists(s, example)...), objects(s, example)...)
}

// lists returns arrays within and beyond the bounds of s and of its elements, if s is the
// schema of an array.
func lists(s *openapi.Schema, example string) (all []string) {
	var elements []json.RawMessage
	if s.Items2020 == nil || json.Unmarshal([]byte(example), &elements) != nil {
		return nil
	}
	first := string(elements[0])
	for _, value := range values(&openapi.Schema{Schema: s.Items2020}, first) {
		all = append(all, strings.Replace(example, first, value, 1))
	}
	for _, n := range around(1000, s.MinItems, s.MaxItems) {
		all = append(all, "["+strings.Join(slices.Repeat([]string{first}, n), ",")+"]")
	}
	return all
}

// objects is lists for the schema of an object with any names.
func objects(s *openapi.Schema, example string) (all []string) {
	var members map[string]json.RawMessage
	member, ok := s.AdditionalProperties.(*jsonschema.Schema)
	if !ok || json.Unmarshal([]byte(example), &members) != nil {
		return nil
	}
	for name, value := range members {
		for _, other := range values(&openapi.Schema{Schema: member}, string(value)) {
			all = append(all, openapi.With(example, name, other))
		}
		for _, other := range texts(&openapi.Schema{Schema: cmp.Or(s.PropertyNames, new(jsonschema.Schema))}, name) {
			all = append(all, openapi.With("{}", other, string(value)))
		}
		for _, n := range around(1000, s.MinProperties, s.MaxProperties) {
			many := map[string]json.RawMessage{}
			for i := range n {
				many[fmt.Sprint(i)] = value
			}
			text, _ := json.Marshal(many)
			all = append(all, string(text))
		}
	}
	return all
}

// around returns 0, numbers at the bounds and beside them, and a large one: if the service
// refuses that, the document must have a bound too.
func around(large int, bounds ...*int) []int {
	all := []int{0, large}
	for _, bound := range bounds {
		if bound != nil {
			all = append(all, max(0, *bound-1), *bound, *bound+1)
		}
	}
	return all
}

// texts returns texts within and beyond the bounds of s. The example is valid.
func texts(s *openapi.Schema, example string) []string {
	all := []string{"", example, example + "\n", strings.ToUpper(example)}
	if s.IsInteger() {
		return append(all, integers(s)...)
	}
	if s.Enum != nil {
		for _, value := range s.Enum.Values {
			all = append(all, fmt.Sprint(value))
		}
	}
	fill := "\U0010ffff"
	if s.Pattern != nil && !s.Pattern.MatchString(fill) {
		fill = "~"
	}
	for _, n := range around(4096, s.MinLength, s.MaxLength) {
		all = append(all, strings.Repeat(fill, n))
	}
	// Each ASCII character in place of the first of the example, the second and the last.
	for c := ' '; c <= '~'; c++ {
		for _, i := range []int{0, min(1, len(example)-1), len(example) - 1} {
			all = append(all, example[:i]+string(c)+example[i+1:])
		}
	}
	return all
}

// integers returns other spellings of integers, and integers at the bounds of s and beside them.
func integers(s *openapi.Schema) []string {
	all := []string{"0", "-0", "1.0", "1e3", "1E400", "01", "+1", "x", "9007199254740993"}
	for _, bound := range []*big.Rat{s.Minimum, s.Maximum} {
		if bound != nil {
			below, above := new(big.Rat).Sub(bound, big.NewRat(1, 1)), new(big.Rat).Add(bound, big.NewRat(1, 1))
			all = append(all, below.RatString(), bound.RatString(), above.RatString())
		}
	}
	return all
}
