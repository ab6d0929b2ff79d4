package openapi

import (
	"net/http"
	"slices"
	"strings"
)

// A Resource is a collection of elements with ids, such as the plants. Only this file
// says which operations of the document belong to it: tests go by these fields, not by
// the form of a path.
type Resource struct {
	Path string // of the collection

	// Create creates an element with the id in its body. It is nil if clients can't
	// create elements, or only by another operation, such as POST /plants/{id}/loan.
	Create *Operation

	// List returns an array of the elements. It is nil if clients can't list them.
	List *Operation

	// Items are the operations on one element: their paths have its id after Path,
	// and may go on.
	Items []*Operation

	// Delete is the one of Items that deletes the element, or nil.
	Delete *Operation
}

// newResources returns the resources of operations, sorted by path.
func newResources(operations []*Operation) (all []*Resource) {
	at := func(path string) *Resource {
		for _, r := range all {
			if r.Path == path {
				return r
			}
		}
		all = append(all, &Resource{Path: path})
		return all[len(all)-1]
	}
	for _, op := range operations {
		switch {
		case strings.Contains(op.Path, "{"):
		case op.Method == http.MethodPost && op.createsWithID():
			at(op.Path).Create = op
		case op.Method == http.MethodGet && op.returnsArray():
			at(op.Path).List = op
		}
	}
	for _, r := range all {
		for _, op := range operations {
			rest, ok := strings.CutPrefix(op.Path, r.Path+"/{")
			if !ok {
				continue
			}
			r.Items = append(r.Items, op)
			if op.Method == http.MethodDelete && !strings.Contains(rest, "/") {
				r.Delete = op
			}
		}
	}
	slices.SortFunc(all, func(a, b *Resource) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// createsWithID reports whether the body of op has an id.
func (op *Operation) createsWithID() bool {
	return op.RequestBody != nil && op.RequestBody.Content.JSON.Schema.AllProperties()["id"] != nil
}

// returnsArray reports whether a success of op is an array.
func (op *Operation) returnsArray() bool {
	ok := op.Responses[http.StatusOK]
	return ok != nil && ok.Content.JSON != nil && ok.Content.JSON.Schema.hasType("array")
}

// Resource returns the resource at a path. It panics if the document has no
// resource there.
func (d *Document) Resource(path string) *Resource {
	for _, r := range d.Resources {
		if r.Path == path {
			return r
		}
	}
	panic("api/openapi.yaml has no resource at " + path)
}

// ResourceOf returns the resource that op belongs to, or one without operations.
func (d *Document) ResourceOf(op *Operation) *Resource {
	for _, r := range d.Resources {
		if op == r.Create || op == r.List || slices.Contains(r.Items, op) {
			return r
		}
	}
	return &Resource{}
}

// Creates returns a create for each example of each resource's, in the order of their
// names.
func (d *Document) Creates() (all []Request) {
	for _, r := range d.Resources {
		if r.Create != nil {
			all = append(all, r.Create.Requests()...)
		}
	}
	return all
}
