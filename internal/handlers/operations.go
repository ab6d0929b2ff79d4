package handlers

import (
	"net/http"

	"example.com/plantstore/internal/excerpt"
)

// listBatch is the maximum number of plants to request from the store at once. It limits the
// memory that a list takes. A page of 1,000 needs one request, see list.
const listBatch = 1000 + 1

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
	return response{status: http.StatusOK, body: encode(&plant)}, nil
}

// list serves GET /plants. It reads one plant more than the page may hold, to know whether
// there is a next page.
func (s *Service) list(r *request) (response, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	page := newPage(q)
	for {
		want := min(page.room, listBatch-1) + 1
		batch, err := s.store.List(r.Context(), r.caller.Subject, page.last, want)
		if err != nil {
			return response{}, err
		}
		for i := range batch {
			if !page.add(&batch[i]) {
				return page.response(true), nil
			}
		}
		if len(batch) < want {
			return page.response(false), nil
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
