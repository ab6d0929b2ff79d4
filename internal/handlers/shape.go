package handlers

import (
	"bytes"

	"github.com/go-json-experiment/json"

	"example.com/plantstore/internal/plants"
)

// A plantShape is a plant in a response: the schema Plant of api/openapi.yaml and, in a list
// with include=id, the id.
type plantShape struct {
	ID   *int64  `json:"id,omitzero"`
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

func shapeOf(p *plants.Plant, withID bool) plantShape {
	shape := plantShape{Name: p.Name, Tag: p.Tag}
	if withID {
		shape.ID = &p.ID
	}
	return shape
}

// encode returns v as a line of JSON. Strings are escaped only where JSON
// requires it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // every string was validated as UTF-8
	}
	return append(b, '\n')
}

// A listBody is the body of a list: a JSON array of at most maxList bytes.
type listBody struct {
	buffer  bytes.Buffer
	element plantShape // reused, so that add needn't allocate one
}

// add appends a plant, and reports whether it fits.
func (a *listBody) add(element plantShape) (fits bool) {
	end := a.buffer.Len()
	if end == 0 {
		a.buffer.WriteByte('[')
	} else {
		a.buffer.WriteByte(',')
	}
	a.element = element
	if err := json.MarshalWrite(&a.buffer, &a.element); err != nil {
		panic(err) // every string was validated as UTF-8
	}
	if a.buffer.Len()+len("]\n") > maxList {
		a.buffer.Truncate(end)
		return false
	}
	return true
}

// close returns the array as a line of JSON, without the spare capacity of the buffer.
func (a *listBody) close() []byte {
	if a.buffer.Len() == 0 {
		return []byte("[]\n")
	}
	a.buffer.WriteString("]\n")
	return bytes.Clone(a.buffer.Bytes())
}
