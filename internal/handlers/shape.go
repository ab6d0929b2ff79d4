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
func (b *listBody) add(element plantShape) (fits bool) {
	end := b.buffer.Len()
	if end == 0 {
		b.buffer.WriteByte('[')
	} else {
		b.buffer.WriteByte(',')
	}
	b.element = element
	if err := json.MarshalWrite(&b.buffer, &b.element); err != nil {
		panic(err) // every string was validated as UTF-8
	}
	if b.buffer.Len()+len("]\n") > maxList {
		b.buffer.Truncate(end)
		return false
	}
	return true
}

// close returns the array as a line of JSON, without the spare capacity of the buffer.
func (b *listBody) close() []byte {
	if b.buffer.Len() == 0 {
		return []byte("[]\n")
	}
	b.buffer.WriteString("]\n")
	return bytes.Clone(b.buffer.Bytes())
}
