package handlers

import (
	"bytes"
	"cmp"
	"math"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/plants"
)

// maxList is the maximum size of a list body, in bytes. The server holds a body until
// its client has read it, so this limits the memory that slow clients take.
const maxList = 512 << 10

// A page is the response to a list while it is being written: a JSON array of at most maxList
// bytes. One encoder writes all its elements, since one for each would take longer than the
// elements themselves.
type page struct {
	query   listQuery
	room    int    // how many more plants may follow
	last    *int64 // the id of the last plant, at first the cursor
	buffer  bytes.Buffer
	encoder *jsontext.Encoder // writes to buffer
	end     int64             // where the last plant ends in the encoder's output
	element elementWithID     // reused, so that add needn't allocate one
}

// An elementWithID is an element of a list with include=id.
type elementWithID struct {
	ID int64 `json:"id"`
	plants.Plant
}

func newPage(q listQuery) *page {
	p := &page{query: q, room: cmp.Or(q.limit, math.MaxInt32), last: q.after}
	p.encoder = jsontext.NewEncoder(&p.buffer)
	p.write(p.encoder.WriteToken(jsontext.BeginArray))
	p.end = p.encoder.OutputOffset()
	return p
}

// add appends a plant, and reports whether it fits. The first one always does: the limits of
// its fields keep it far below maxList. After one that doesn't, nothing may be added.
func (p *page) add(plant *plants.Plant) (fits bool) {
	if p.room == 0 {
		return false
	}
	var element any = plant // a pointer, since a copy would be allocated
	if p.query.includeID {
		p.element = elementWithID{plant.ID, *plant}
		element = &p.element
	}
	p.write(json.MarshalEncode(p.encoder, element))
	end := p.encoder.OutputOffset()
	if end+int64(len("]\n")) > maxList {
		return false
	}
	p.room, p.last, p.end = p.room-1, &plant.ID, end
	return true
}

// write panics if the encoder fails: the buffer takes everything, and every string was validated.
func (*page) write(err error) {
	if err != nil {
		panic(err)
	}
}

// response ends the page. If there are more plants, a Link header (RFC 8288) leads to the next
// one. The link is relative, so that it works behind any host and base path.
func (p *page) response(more bool) response {
	p.write(p.encoder.WriteToken(jsontext.EndArray)) // flushes the encoder
	resp := response{status: http.StatusOK, body: slices.Concat(p.buffer.Bytes()[:p.end], []byte("]\n"))}
	if more {
		resp.header = map[string]string{"Link": "<?" + p.query.from(*p.last) + `>; rel="next"`}
	}
	return resp
}
