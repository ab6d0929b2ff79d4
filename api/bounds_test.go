package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
		resp, plain := s.doAsDocumented(t, op.Request(""))
		if resp.StatusCode >= 300 && resp.StatusCode != 404 {
			t.Errorf("%s: the request of the document's examples was answered %d %s", op, resp.StatusCode, plain)
		}
		for _, p := range op.Parameters {
			example, matters := fmt.Sprint(p.Example), false
			for _, value := range texts(p.Schema, example) {
				if p.In == "header" {
					value = strings.TrimSpace(value) // as HTTP does
				}
				resp, body := s.doAsDocumented(t, op.Request(p.Name, value))
				matters = matters || resp.StatusCode == 200 && body != plain
			}
			if r := d.ResourceOf(op); p.In == "query" && !matters && op == r.List && r.Create != nil { // else the examples may not be in it
				t.Errorf("%s: the list is the same with any %s: pass it to the store; its example must match the first example of the create", op, p.Name)
			}
			if p.In != "path" {
				s.doAsDocumented(t, op.Request(p.Name, example, example))
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
	for _, r := range s.document.Creates() {
		if resp, answer := s.doAsDocumented(t, r); resp.StatusCode != 200 {
			t.Fatalf("%s %s: %.300q of the examples was answered %d %s", r.Method, r.Target, r.Body, resp.StatusCode, answer)
		}
	}
}

// Link repeats every parameter of a list: without one, the next page would be of
// another list.
func TestLink(t *testing.T) {
	d := openapi.Read()
	for _, r := range d.Resources {
		if r.Create == nil || r.List == nil {
			continue
		}
		s := newService(t, d, authtest.NewIssuer(t), setup{})
		first := r.Create.Request("")
		for _, id := range []string{"7", "8"} { // which all examples of parameters select
			s.doAsDocumented(t, sent{Method: first.Method, Target: first.Target, Body: openapi.With(first.Body, "id", id)})
		}
		query := url.Values{}
		for _, p := range r.List.Parameters {
			if p.In == "query" && p.Name != "cursor" {
				query.Set(p.Name, fmt.Sprint(p.Example))
			}
		}
		query.Set("limit", "1")
		resp, body := s.doAsDocumented(t, sent{Method: "GET", Target: r.Path + "?" + query.Encode()})
		link := strings.TrimSuffix(strings.TrimPrefix(resp.Header.Get("Link"), "<?"), `>; rel="next"`)
		next, err := url.ParseQuery(link)
		delete(next, "cursor")
		if err != nil || !maps.EqualFunc(next, query, slices.Equal) {
			t.Errorf("%s?%s returns %.200s with the Link %q: repeat every parameter in response of internal/handlers/query.go; their examples must match the first example of the create",
				r.List, query.Encode(), body, link)
		}
	}
}

// tryBodies sends bodies at the bounds of op's. The script create-json has those
// that are not JSON.
func (s *service) tryBodies(t *testing.T, op *openapi.Operation) {
	t.Helper()
	r := op.Request("")
	valid := r.Body
	var example map[string]json.RawMessage
	if err := json.Unmarshal([]byte(valid), &example); err != nil {
		t.Fatal(err)
	}
	properties := op.RequestBody.Content.JSON.Schema.AllProperties()
	minimal := valid // without its optional members
	for name := range properties {
		r.Body = openapi.With(minimal, name, "")
		if resp, _ := s.doAsDocumented(t, r); resp.StatusCode == 200 {
			minimal = r.Body
		}
	}
	for name, property := range properties {
		original := string(example[name])
		if original == "" || original == "[]" || original == "{}" {
			t.Errorf("%s: the first example of its body in api/openapi.yaml has no %s, or an empty one: add it", op, name)
			continue
		}
		for _, value := range append(values(property, original), "") { // "" leaves it out
			for _, others := range []string{valid, minimal} { // a rule holds whatever the other members are
				r.Body = openapi.With(others, name, value)
				s.doAsDocumented(t, r)
			}
		}
		r.Body = openapi.With(valid, strings.ToUpper(name), original)
		s.doAsDocumented(t, r)
		if property.Enum != nil { // the message lists what the code accepts
			r.Body = openapi.With(valid, name, `"x"`)
			_, refusal := s.doAsDocumented(t, r)
			for _, word := range regexp.MustCompile(`[\w-]+`).FindAllString(refusal, -1) {
				r.Body = openapi.With(valid, name, strconv.Quote(word))
				s.doAsDocumented(t, r)
			}
		}
	}
	full := openapi.With(valid, "x", `{"a": [1.0, null]}`)
	room := strings.Repeat(" ", op.RequestBody.MaxBytes-len(full))
	for _, r.Body = range []string{full, full + room, full + room + " "} {
		s.doAsDocumented(t, r)
	}
}
