package handlers

import (
	"cmp"
	"math"
	"net/http"

	"example.com/plantstore/internal/excerpt"
)

const (
	// maxList is the maximum size of a list body, in bytes. The server holds a body until
	// its client has read it, so this limits the memory that slow clients take.
	maxList = 512 << 10

	// listBatch is the maximum number of plants to request from the store at
	// once. It limits the memory that a list takes.
	listBatch = 1000
)

// create serves POST /plants.
func (s *Service) create(r *request) (response, error) {
	if err := checkMediaType(r.Header); err != nil {
		return response{}, err
	}
	body, err := readBody(r)
	if err != nil {
		return response{}, err
	}
	plant, err := decodePlant(body)
	if err != nil {
		return response{}, err
	}
	if err := s.store.Create(r.Context(), r.caller.Subject, plant); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: encode(shapeOf(&plant, false))}, nil
}

// list serves GET /plants. It reads one plant more than it may return, to know whether
// there is a next page.
func (s *Service) list(r *request) (response, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	var body listBody
	room := cmp.Or(q.limit, math.MaxInt32) // how many more plants this response may hold
	after := q.after                       // the id of the last plant in body, at first the cursor
	for {
		want := listBatch
		if room < listBatch {
			want = room + 1
		}
		batch, err := s.store.List(r.Context(), r.caller.Subject, after, want)
		if err != nil {
			return response{}, err
		}
		for i := range batch {
			// The first plant always fits: the limits of its fields keep it far below maxList.
			if room == 0 || !body.add(shapeOf(&batch[i], q.includeID)) {
				return q.page(body.close(), after), nil
			}
			room--
			after = &batch[i].ID
		}
		if len(batch) < want {
			return q.page(body.close(), nil), nil
		}
	}
}

// delete serves DELETE /plants/{id}.
func (s *Service) delete(r *request) (response, error) {
	id, ok := parseInt64(r.pathID)
	if !ok {
		return response{}, failf(codeInvalidID, "the id in the path must be %s, not %s", int64Rule, excerpt.Quote(r.pathID))
	}
	if err := s.store.Delete(r.Context(), r.caller.Subject, id); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}
