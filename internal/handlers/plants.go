package handlers

import (
	"bytes"
	"cmp"
	"math"
	"net/http"
	"strings"
	"time"

	"example.com/plantstore/internal/plants"
)

const (
	// maxKeyLength is the maximum length of an Idempotency-Key, in bytes.
	maxKeyLength = 255

	// maxList is the maximum size of a list body, in bytes. It bounds the memory of
	// lists that nobody reads: 400 hold less than 256 MiB.
	maxList = 512 << 10

	// listBatch is the maximum number of plants to request from the store at
	// once. It bounds the memory of a list.
	listBatch = 4096

	// listReserve is the minimum time to spend on another batch. With less, a
	// list ends early with a Link to the rest.
	listReserve = 2 * time.Second
)

// create serves POST /plants.
func (s *Service) create(r *request) (response, error) {
	if err := checkMediaType(r.Header); err != nil {
		return response{}, err
	}
	key, err := r.idempotencyKey()
	if err != nil {
		return response{}, err
	}
	body, err := readBody(r)
	if err != nil {
		return response{}, err
	}
	p, err := decodePlant(body)
	if err != nil {
		return response{}, err
	}
	if err := s.stores.Plants.Create(r.Context(), r.caller.Subject, p, key); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: encodePlant(&p, false)}, nil
}

// idempotencyKey returns the key that makes r repeatable, from its header
// Idempotency-Key. Without the header, the key is random.
func (r *request) idempotencyKey() (plants.IdempotencyKey, error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return plants.NewIdempotencyKey(), nil
	}
	// A comma may mean that a gateway joined two headers.
	invalid := func(c rune) bool { return c <= ' ' || c > '~' || c == ',' }
	if len(keys) > 1 || keys[0] == "" || len(keys[0]) > maxKeyLength || strings.ContainsFunc(keys[0], invalid) {
		return "", failf(CodeInvalidKey, "Idempotency-Key must be given once, with 1 to %d visible ASCII characters and no comma", maxKeyLength)
	}
	return plants.HashIdempotencyKey(r.caller.Subject, keys[0]), nil
}

// list serves GET /plants.
func (s *Service) list(r *request) (response, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	deadline, limited := r.Context().Deadline()
	body := []byte{'['}
	after, left := q.after, cmp.Or(q.limit, math.MaxInt32) // far more than fit into one body
	for {
		// One plant more than requested shows whether there is a next page.
		page, err := s.stores.Plants.List(r.Context(), r.caller.Subject, plants.Query{After: after, Limit: min(left, listBatch-1) + 1})
		if err != nil {
			return response{}, err
		}
		for i := range page.Plants {
			element := encodePlant(&page.Plants[i], q.includeID)
			element[len(element)-1] = ','
			if left == 0 || len(body)+len(element)+len("\n") > maxList { // "]" replaces the comma
				return q.response(body, after), nil
			}
			body = append(body, element...)
			after = &page.Plants[i].ID
			left--
		}
		if page.Next == nil || limited && time.Until(deadline) < listReserve {
			return q.response(body, page.Next), nil
		}
		after = page.Next
	}
}

// response returns the list in body, an open array whose elements all end with a
// comma. If next is not nil, the list goes on after that id.
func (q listQuery) response(body []byte, next *int64) response {
	resp := response{status: http.StatusOK, body: append(bytes.TrimSuffix(body, []byte{','}), "]\n"...)}
	if next != nil {
		resp.header = http.Header{"Link": {q.nextLink(*next)}}
	}
	return resp
}

// delete serves DELETE /plants/{id}.
func (s *Service) delete(r *request) (response, error) {
	id, err := r.plantID()
	if err != nil {
		return response{}, err
	}
	if err := s.stores.Plants.Delete(r.Context(), r.caller.Subject, id); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

// plantID returns the id in the path of r.
func (r *request) plantID() (int64, error) {
	id, ok := parseInt64(r.id)
	if !ok {
		return 0, failf(CodeInvalidID, "the id in the path must be %s, not %s", int64Rule, excerpt(r.id))
	}
	return id, nil
}
