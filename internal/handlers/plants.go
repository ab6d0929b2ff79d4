package handlers

import (
	"context"
	"net/http"
	"time"

	"example.com/plantstore/internal/plants"
)

const (
	// maxList is the largest body of a list, in bytes. Lambda takes 6 MB, in
	// which every character may count twice: the body is a string inside the
	// function's answer, with its quotes and backslashes escaped once more.
	// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
	maxList = 5 << 19 // 2.5 MiB

	// listBatch is how many plants are asked of the store at once: it bounds
	// the memory that a list takes.
	listBatch = 4096

	// listReserve is the time that must remain to read one more batch. With
	// less, what was read is sent, while there is time to send it.
	listReserve = 2 * time.Second
)

// plantBody is the Plant shape of the interface, with the id where the client
// asked for it.
type plantBody struct {
	ID   *int64  `json:"id,omitzero"`
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

// create answers POST /plants.
func (s *Service) create(r *request) (response, error) {
	if err := checkMediaType(r.Header); err != nil {
		return response{}, err
	}
	token, err := writeToken(r)
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
	if err := s.store.Create(r.Context(), r.caller.Subject, p, token); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: encode(plantBody{Name: p.Name, Tag: p.Tag})}, nil
}

// list answers GET /plants.
func (s *Service) list(r *request) (response, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	body, next, err := s.readList(r.Context(), r.caller.Subject, q)
	if err != nil {
		return response{}, err
	}
	resp := response{status: http.StatusOK, body: body}
	if next != nil {
		resp.link = q.nextLink(*next)
	}
	return resp, nil
}

// readList returns the plants that q selects as a JSON array. If it ends before
// the last of them, next is the id to go on after.
func (s *Service) readList(ctx context.Context, owner string, q listQuery) (body []byte, next *int64, err error) {
	body = []byte{'['}
	after, left := q.after, q.max()
	for {
		// One more than asked tells whether there is a next page.
		page, err := s.store.List(ctx, owner, plants.Query{After: after, Limit: min(left, listBatch-1) + 1})
		if err != nil {
			return nil, nil, err
		}
		for i := range page.Plants {
			element := q.element(&page.Plants[i])
			if left == 0 || len(body)+len(element)+len("]\n") > maxList {
				return endList(body), after, nil
			}
			body = append(body, element...)
			after = &page.Plants[i].ID
			left--
		}
		if !page.More {
			return endList(body), nil, nil
		}
		if left < q.max() && short(ctx) {
			return endList(body), after, nil
		}
	}
}

// endList closes an array whose elements each end in a comma.
func endList(body []byte) []byte {
	if n := len(body); body[n-1] == ',' {
		body = body[:n-1]
	}
	return append(body, "]\n"...)
}

// short reports whether too little of ctx's time remains to read on.
func short(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < listReserve
}

// delete answers DELETE /plants/{id}.
func (s *Service) delete(r *request) (response, error) {
	id, ok := parseInt64(r.id)
	if !ok {
		return response{}, failf(CodeInvalidID, "the id in the path must be %s, not %s", int64Rule, excerpt(r.id))
	}
	if err := s.store.Delete(r.Context(), r.caller.Subject, id); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}
