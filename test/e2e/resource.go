package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

// This file derives its requests from the OpenAPI document, so that it covers a
// new operation, parameter or resource without a change.
var document = openapi.Read()

// A resource is one whose elements clients can create, list and delete.
type resource struct{ *openapi.Resource }

var plants = resource{document.Resource("/plants")}

func resources() (all []resource) {
	for _, r := range document.Resources {
		if r.Create != nil && r.List != nil && r.Delete != nil {
			all = append(all, resource{r})
		}
	}
	return all
}

func (r resource) String() string { return r.Path }

// An element is the JSON object of an element of a resource.
type element map[string]json.RawMessage

func (e element) id() int64 {
	id, _ := strconv.ParseInt(string(e["id"]), 10, 64)
	return id
}

// String returns e as JSON, equal elements as equal texts.
func (e element) String() string {
	text, _ := json.Marshal(map[string]json.RawMessage(e)) // it came from JSON
	return string(text)
}

// example returns the element of the document's example, with the given id.
func (r resource) example(id int64) (e element) {
	json.Unmarshal([]byte(r.Create.Request("").Body), &e) // valid, like all examples
	e["id"] = fmt.Append(nil, id)
	return e
}

// largest returns an example whose texts are as long as the document allows. JSON
// encodes a control character in six bytes.
func (r resource) largest(id int64) element {
	e := r.example(id)
	for name, s := range r.Create.RequestBody.Content.JSON.Schema.AllProperties() {
		if s.MaxLength == nil {
			continue
		}
		if text := strings.Repeat("\x01", *s.MaxLength); s.Validate(text) == nil {
			e[name], _ = json.Marshal(text)
		}
	}
	return e
}

// post sends the create of e.
func (r resource) post(t *testing.T, c *client, e element, wanted ...int) (answer, error) {
	return c.send(t, request{Method: "POST", Target: r.Path, Body: e.String()}, wanted...)
}

// postAll creates the elements.
func (r resource) postAll(t *testing.T, c *client, elements ...element) {
	t.Helper()
	for _, e := range elements {
		if _, err := r.post(t, c, e, 200); err != nil {
			t.Fatal(err)
		}
	}
}

// remove sends the delete of the element with the id.
func (r resource) remove(t *testing.T, c *client, id int64, wanted ...int) (answer, error) {
	return c.send(t, request{Method: "DELETE", Target: fmt.Sprintf("%s/%d", r.Path, id)}, wanted...)
}

// next returns the address in the Link header, relative to that of the list, or
// "" if there are no more pages.
func (a answer) next() string {
	return strings.TrimSuffix(strings.TrimPrefix(a.header.Get("Link"), "<"), `>; rel="next"`)
}

// walk returns the elements of all pages of a list, with their ids.
func (r resource) walk(t *testing.T, c *client) (all []element, err error) {
	end := time.Now().Add(harness.Patience)
	for next := "?include=id"; next != ""; {
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s doesn't end: its pages have %d elements, and Link leads to another", r, len(all))
		}
		a, err := c.send(t, request{Method: "GET", Target: r.Path + next}, 200)
		if err != nil {
			return nil, err
		}
		var page []element
		if err := json.Unmarshal([]byte(a.body), &page); err != nil {
			return nil, err
		}
		all = append(all, page...)
		next = a.next()
	}
	return all, nil
}

// expect checks that a list contains exactly these elements in this order.
func (r resource) expect(t *testing.T, c *client, elements ...element) {
	t.Helper()
	err := retry(c.Lag, func() error {
		got, err := r.walk(t, c)
		if err == nil && fmt.Sprint(got) != fmt.Sprint(elements) {
			err = fmt.Errorf("%s has %d elements that are not the %d expected ones in their order", r, len(got), len(elements))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
