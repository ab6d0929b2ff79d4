package handlers

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/records"
)

const (
	// maxKeyLength is the maximum length of an Idempotency-Key, in bytes.
	maxKeyLength = 255

	// maxList is the maximum size of a list body, in bytes. The server holds a body until
	// its client has read it, so this bounds the memory that slow clients cost.
	maxList = 512 << 10

	// listBatch is the maximum number of records to request from the store at
	// once. It bounds the memory of a list.
	listBatch = 4096

	// listReserve is how long before the deadline of a request its list reads no further
	// batch, so that there is time to send what it has.
	listReserve = 2 * time.Second
)

// A serveFunc serves a request that has passed the checks of [Service.handle].
type serveFunc func(*request) (response, error)

// create returns the function that creates a record in store. It panics if a field of T
// has a kind that [checkKinds] refuses.
func create[T records.Fields](store records.Store[T]) serveFunc {
	checkKinds[T]()
	return func(r *request) (response, error) {
		if err := checkMediaType(r.Header); err != nil {
			return response{}, err
		}
		token, err := r.writeToken()
		if err != nil {
			return response{}, err
		}
		body, err := readBody(r)
		if err != nil {
			return response{}, err
		}
		record, err := decodeRecord[T](body)
		if err != nil {
			return response{}, err
		}
		if err := store.Create(r.Context(), r.caller.Subject, record, token); err != nil {
			return response{}, err
		}
		return response{status: http.StatusOK, body: encode(record.Fields)}, nil
	}
}

// writeToken returns the token that makes r repeatable, from its header
// Idempotency-Key. Without the header, the token is random.
func (r *request) writeToken() (records.WriteToken, error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return records.NewWriteToken(), nil
	}
	// A comma may mean that a gateway joined two headers.
	invalid := func(c rune) bool { return c <= ' ' || c > '~' || c == ',' }
	if len(keys) > 1 || keys[0] == "" || len(keys[0]) > maxKeyLength || strings.ContainsFunc(keys[0], invalid) {
		return "", failf(CodeInvalidKey, "Idempotency-Key must be given once, with 1 to %d visible ASCII characters and no comma", maxKeyLength)
	}
	return records.HashWriteToken(r.caller.Subject, keys[0]), nil
}

// list returns the function that lists the caller's records in store. If the time runs
// short or the store fails after the first batch, the list ends with what is finished
// and a Link to the rest.
func list[T records.Fields](store records.Store[T]) serveFunc {
	return func(r *request) (response, error) {
		q, err := parseListQuery(r.URL.RawQuery)
		if err != nil {
			return response{}, err
		}
		var body array
		room := cmp.Or(q.limit, math.MaxInt32) // for so many records; without a limit, for more than fit into one body
		after := q.after                       // everything up to this id is in body, or before the cursor
		read := func(ctx context.Context) (records.Page[T], error) {
			// One record more than there is room for shows whether there is a next page.
			return store.List(ctx, r.caller.Subject, records.Query{After: after, Limit: min(room, listBatch-1) + 1})
		}
		batch, err := read(r.Context())
		if err != nil {
			return response{}, err
		}
		ctx, cancel := withReserve(r.Context())
		defer cancel()
		for {
			for i := range batch.Records {
				// The first record always fits: it came in a body of at most maxBody.
				if room == 0 || !body.add(element(&batch.Records[i], q.includeID)) {
					return q.response(body.close(), after), nil
				}
				room--
				after = &batch.Records[i].ID
			}
			if batch.Next == nil {
				return q.response(body.close(), nil), nil
			}
			after = batch.Next
			if batch, err = read(ctx); err != nil {
				resp := q.response(body.close(), after)
				resp.endedEarly = err
				return resp, nil
			}
		}
	}
}

// element returns what a list has for r.
func element[T any](r *records.Record[T], withID bool) any {
	if withID {
		return r
	}
	return &r.Fields
}

// withReserve returns a copy of ctx that ends listReserve before the deadline of ctx, if
// there is one.
func withReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-listReserve))
	}
	return context.WithCancel(ctx)
}

// remove returns the function that deletes one of the caller's records in store.
// In messages, noun stands for a record, such as "plant".
func remove[T records.Fields](store records.Store[T], noun string) serveFunc {
	return func(r *request) (response, error) {
		id, err := r.recordID()
		if err != nil {
			return response{}, err
		}
		if err := store.Delete(r.Context(), r.caller.Subject, id); err != nil {
			return response{}, explainMissing(err, noun)
		}
		return response{status: http.StatusNoContent}, nil
	}
}

// explainMissing returns err, or if that is ErrNotFound, what to tell the client.
func explainMissing(err error, noun string) error {
	if errors.Is(err, records.ErrNotFound) {
		return failf(CodeNotFound, "you have no %s with this id", noun)
	}
	return err
}

// recordID returns the id in the path of r.
func (r *request) recordID() (int64, error) {
	id, ok := parseInt64(r.id)
	if !ok {
		return 0, failf(CodeInvalidID, "the id in the path must be %s, not %s", int64Rule, logging.Quote(r.id))
	}
	return id, nil
}
