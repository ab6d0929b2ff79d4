package handlers

import (
	"cmp"
	"math"
	"net/http"

	"example.com/plantstore/internal/excerpt"
	"example.com/plantstore/internal/plants"
)

// create serves POST /plants.
func (s *Service) create(r *request) (response, error) {
	body, err := readObject(r)
	if err != nil {
		return response{}, err
	}
	plant := body.plant()
	if body.err != nil {
		return response{}, body.err
	}
	if err := s.store.Create(r.Context(), r.caller.Subject, plant); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: encode(plant)}, nil
}

// maxList is the maximum size of a list's body, in bytes. Lambda's response, of at most 6 MB, contains
// the body as a JSON string, whose escapes may double it.
const maxList = 2 << 20

// list serves GET /plants. If there are more plants, a Link header (RFC 8288) leads to the next
// page. The link is relative, so that it works behind any host and base path.
func (s *Service) list(r *request) (response, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	page, more, err := s.store.List(r.Context(), r.caller.Subject, q.after, cmp.Or(q.limit, math.MaxInt32))
	if err != nil {
		return response{}, err
	}
	body := encodeList(page, q.includeID)
	// Stores return 1 MB at most, but control characters take six bytes in JSON. A page of one plant is
	// never too large: its create had at most maxBody bytes.
	for len(body) > maxList && len(page) > 1 {
		page, more = page[:len(page)/2], true
		body = encodeList(page, q.includeID)
	}
	resp := response{status: http.StatusOK, body: body}
	if more {
		next := q.from(page[len(page)-1].ID)
		resp.header = map[string]string{"Link": "<?" + next + `>; rel="next"`}
	}
	return resp, nil
}

// encodeList returns a page as a JSON array.
func encodeList(page []plants.Plant, includeID bool) []byte {
	if !includeID {
		return encode(page) // [] if page is nil, unlike encoding/json
	}
	type plantWithID struct {
		ID int64 `json:"id"`
		plants.Plant
	}
	withIDs := make([]plantWithID, len(page))
	for i, p := range page {
		withIDs[i] = plantWithID{p.ID, p}
	}
	return encode(withIDs)
}

// delete serves DELETE /plants/{id}.
func (s *Service) delete(r *request) (response, error) {
	id, err := r.id()
	if err != nil {
		return response{}, err
	}
	if err := s.store.Delete(r.Context(), r.caller.Subject, id); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

// id returns the id in the path.
func (r *request) id() (int64, error) {
	id, ok := parseInt64(r.pathID)
	if !ok {
		return 0, failf(codeInvalidID, "the id in the path must be %s, not %s", int64Rule, excerpt.Quote(r.pathID))
	}
	return id, nil
}
