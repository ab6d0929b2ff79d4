package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/plantstore/test/openapi"
)

// This file derives its requests from the OpenAPI document, so that it covers a
// new operation, parameter or resource without a change.
var document = openapi.Read()

// A resource is a path of the document where elements are created and listed.
type resource string

const plants resource = "/plants"

func resources() (all []resource) {
	for path := range document.Paths {
		if !strings.Contains(path, "{") {
			all = append(all, resource(path))
		}
	}
	return all
}

// operation returns the operation of r with a method in lower case.
func (r resource) operation(method string) *openapi.Operation {
	op := document.Paths[string(r)][method]
	if op == nil {
		panic("api/openapi.yaml: " + string(r) + " needs a post and a get: the acceptance suite creates and lists what it tests")
	}
	return op
}

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
	json.Unmarshal([]byte(r.operation("post").Request("").Body), &e) // valid, like all examples
	e["id"] = fmt.Append(nil, id)
	return e
}

// largest returns an example whose texts are as long as the document allows. JSON
// encodes a control character in six bytes.
func (r resource) largest(id int64) element {
	e := r.example(id)
	for name, s := range r.operation("post").RequestBody.Content.JSON.Schema.AllProperties() {
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
	return c.send(t, request{Method: "POST", Target: string(r), Body: e.String()}, wanted...)
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
	return c.send(t, request{Method: "DELETE", Target: fmt.Sprintf("%s/%d", r, id)}, wanted...)
}

// next returns the address in the Link header, relative to that of the list, or
// "" if there are no more pages.
func (a answer) next() string {
	return strings.TrimSuffix(strings.TrimPrefix(a.header.Get("Link"), "<"), `>; rel="next"`)
}

// walk returns the elements of all pages of a list, with their ids.
func (r resource) walk(t *testing.T, c *client) (all []element, err error) {
	for next := "?include=id"; next != ""; {
		a, err := c.send(t, request{Method: "GET", Target: string(r) + next}, 200)
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

// otherUsers checks that each operation on an element of alice's is 404 for bob,
// and changes nothing.
func otherUsers(t *testing.T, c *client) {
	v := newVars(t, c)
	alice, bob, id := v.user("alice"), v.user("bob"), randomID()
	for _, r := range resources() {
		mine := r.largest(id)
		r.postAll(t, alice, mine)
		for _, op := range document.Operations {
			if !strings.HasPrefix(op.Path, string(r)+"/{id}") {
				continue
			}
			if _, err := bob.send(t, op.Request("id", fmt.Sprint(id)), 404); err != nil {
				t.Errorf("%s of another user's: the store must not find what belongs to another owner: %v", op, err)
			}
			r.expect(t, alice, mine)
		}
	}
}

// listBounds checks that a list ends at the limit that the document sets for its body,
// the same for each, and continues exactly where it ended. It lists the resource whose
// elements can be largest, since it takes the fewest of these.
func listBounds(t *testing.T, c *client) {
	alice, id := newVars(t, c).user("alice"), randomID()
	size := func(r resource) int { return len(r.largest(id).String()) }
	r := slices.MaxFunc(resources(), func(a, b resource) int { return size(a) - size(b) })
	limit := r.operation("get").Responses[200].MaxBytes
	var all []element
	for n := range limit/size(r) + 10 {
		all = append(all, r.largest(id+int64(n)))
	}
	r.postAll(t, alice, all...)
	r.expect(t, alice, all...)
	a, err := alice.send(t, request{Method: "GET", Target: string(r) + "?include=id"}, 200)
	if n := len(a.body); err != nil || n > limit || n < limit-2*size(r) {
		t.Errorf("%s: a page of %d bytes, want just under the x-max-bytes of its response 200 in api/openapi.yaml, %d: %v", r, n, limit, err)
	}
}
