package api_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/openapi"
)

// The service accepts what the document allows and refuses what it forbids, at
// each bound of each parameter and member.
func TestBounds(t *testing.T) {
	d := openapi.Read()
	s := newService(t, d, authtest.NewIssuer(t), setup{overwrite: true}) // so that requests don't depend on each other
	for _, op := range d.Operations {
		s.createExamples(t)
		resp, plain := s.do(t, op.Request(""))
		if resp.StatusCode >= 300 && resp.StatusCode != 404 {
			t.Errorf("%s: the request of the document's examples was answered %d %s", op, resp.StatusCode, plain)
		}
		for _, p := range op.Parameters {
			example, matters := fmt.Sprint(p.Example), false
			for _, value := range texts(p.Schema, example) {
				if p.In == "header" {
					value = strings.TrimSpace(value) // as HTTP does
				}
				resp, body := s.do(t, op.Request(p.Name, value))
				matters = matters || resp.StatusCode == 200 && body != plain
			}
			if p.In == "query" && !matters {
				t.Errorf("%s: the list is the same with any %s: pass it to the store; its example must match the first example of the create", op, p.Name)
			}
			if p.In != "path" {
				s.do(t, op.Request(p.Name, example, example))
			}
		}
		if op.RequestBody != nil {
			s.tryBodies(t, op)
		}
	}
}

// createExamples creates all examples of the document.
func (s *service) createExamples(t *testing.T) {
	t.Helper()
	for _, op := range s.document.Operations {
		if op.Method == http.MethodPost {
			for _, body := range op.RequestBody.Content.Examples() {
				resp, answer := s.do(t, sent{Method: op.Method, Target: op.Path, Body: string(body)})
				if resp.StatusCode != 200 {
					t.Fatalf("%s: %.300q of the examples was answered %d %s", op, body, resp.StatusCode, answer)
				}
			}
		}
	}
}

// tryBodies sends bodies at the bounds of op's. The script create-json has those
// that are not JSON.
func (s *service) tryBodies(t *testing.T, op *openapi.Operation) {
	t.Helper()
	r := op.Request("")
	var example map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.Body), &example); err != nil {
		t.Fatal(err)
	}
	for name, property := range op.RequestBody.Content.JSON.Schema.AllProperties() {
		original := string(example[name])
		if original == "" {
			t.Errorf("%s: the first example of its body in api/openapi.yaml has no %s: add it", op, name)
			continue
		}
		for _, value := range values(property, original) {
			r.Body = with(example, name, value)
			s.do(t, r)
		}
		r.Body = with(example, name, "")
		s.do(t, r)
		r.Body = with(example, strings.ToUpper(name), original)
		s.do(t, r)
	}
	full := with(example, "x", `{"a": [1.0, null]}`)
	room := strings.Repeat(" ", op.RequestBody.MaxBytes-len(full))
	for _, r.Body = range []string{full, full + room, full + room + " "} {
		s.do(t, r)
	}
}

// with returns the object with one more or another member, or without it if
// value is empty.
func with(object map[string]json.RawMessage, name, value string) string {
	members := []string{} // the changed one first, where an excerpt shows it
	if value != "" {
		members = append(members, fmt.Sprintf("%q: %s", name, value))
	}
	for n, v := range object {
		if n != name {
			members = append(members, fmt.Sprintf("%q: %s", n, v))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// values returns JSON values within and beyond the bounds of s, and some that most
// members refuse. The example is valid.
func values(s *openapi.Schema, example string) []string {
	all := []string{example, "null", "1", "true", "[]", "{}", `"x"`, `" "`, `"\u0000"`, `"\u0085"`}
	for _, text := range texts(s, strings.Trim(example, `"`)) {
		quoted, _ := json.Marshal(text)
		all = append(all, text, string(quoted)) // an integer, or not JSON at all; a string
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
	lengths := []int{4096} // which is refused, so there must be a maxLength
	for _, bound := range []*int{s.MinLength, s.MaxLength} {
		if bound != nil {
			lengths = append(lengths, max(0, *bound-1), *bound, *bound+1)
		}
	}
	for _, n := range lengths {
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
