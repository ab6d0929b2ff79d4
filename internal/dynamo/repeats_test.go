package dynamo_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// lost are the faults after which a request was carried out, unknown to the
// client.
var lost = map[string]dynamolocal.Fault{
	"connection cut":        dynamolocal.After(dynamolocal.Cut),
	"answer too late":       dynamolocal.After(dynamolocal.Hang),
	"answer truncated":      truncate,
	"answer stalled":        stall,
	"server error after it": dynamolocal.After(dynamolocal.Refuse(500, "InternalServerError")),
	"answer corrupted":      dynamolocal.After(wrongChecksum),
	"answer unreadable":     dynamolocal.After(dynamolocal.Garble),
}

// truncate sends half of the answer.
func truncate(r *http.Request) (*http.Response, error) {
	resp, err := dynamolocal.Forward(r)
	if err == nil {
		resp.Body = io.NopCloser(io.LimitReader(resp.Body, resp.ContentLength/2))
	}
	return resp, err
}

// stall stops in the middle of the answer until the client gives up.
func stall(r *http.Request) (*http.Response, error) {
	resp, err := truncate(r)
	if err == nil {
		silent, end := io.Pipe()
		context.AfterFunc(r.Context(), func() { end.Close() })
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, silent))
	}
	return resp, err
}

// A request whose answer was lost has its effect once, and succeeds.
func TestAnswerLost(t *testing.T) {
	for name, fault := range lost {
		for _, op := range operations {
			t.Run(name+", "+op.name, func(t *testing.T) {
				t.Parallel()
				store, proxy := newFaulty(t, time.Second) // as in production
				put(t, store, "alice", op.start...)
				wantPlants(t, store, op.start...)

				before := proxy.Count(op.request)
				proxy.Fail(op.request, fault)
				if err := op.call(t.Context(), store); err != nil {
					t.Error(err)
				}
				if got := proxy.Count(op.request) - before; got < 2 {
					t.Errorf("%d requests, want 2", got)
				}
				wantPlants(t, store, op.end...)
			})
		}
	}
}

// A Delete that finds no plant succeeds only if DynamoDB may have carried out
// an earlier attempt.
func TestDeleteFindsNothing(t *testing.T) {
	for name, test := range map[string]struct {
		fault dynamolocal.Fault
		want  error
	}{
		"no fault":                         {nil, plants.ErrNotFound},
		"throttled":                        {dynamolocal.Throttle, plants.ErrNotFound},
		"throttled with a server's status": {dynamolocal.Refuse(503, "ThrottlingException"), plants.ErrNotFound},
		"wrong clock":                      {dynamolocal.Refuse(400, "RequestTimeout"), plants.ErrNotFound},
		"connection cut":                   {dynamolocal.Cut, nil},
		"unavailable":                      {dynamolocal.Unavailable, nil},
		"unreadable":                       {dynamolocal.Garble, nil},
		"empty answer":                     {dynamolocal.Reply(200, ""), nil},
		"no error code":                    {dynamolocal.Reply(400, ""), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t, 0)
			proxy.Fail("DeleteItem", test.fault)
			if err := remove.call(t.Context(), store); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}

			// Another owner's plant is not a deleted one.
			put(t, store, "bob", fern)
			proxy.Fail("DeleteItem", test.fault)
			wantSentinel(t, "another owner's plant", remove.call(t.Context(), store), plants.ErrNotFound)
		})
	}
}

// Without a connection DynamoDB can't have carried out an attempt.
func TestDeleteAfterNoConnection(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.Table(t)
	var once sync.Once
	client := dynamolocal.Client(t, dynamolocal.Endpoint(t))
	transport := client.Options().HTTPClient.(*http.Client).Transport.(*http.Transport)
	transport.Proxy = func(*http.Request) (_ *url.URL, err error) {
		once.Do(func() { err = errors.New("no route") })
		return nil, err
	}
	wantSentinel(t, "Delete", remove.call(t.Context(), dynamo.New(client, table)), plants.ErrNotFound)
}

// A Delete that DynamoDB carries out after its call has returned doesn't delete a
// newer plant with the same id.
func TestLateDelete(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
	put(t, store, "alice", fern)
	held := make(chan *http.Request, 1)
	proxy.Fail("DeleteItem", func(r *http.Request) (*http.Response, error) {
		held <- r
		return dynamolocal.Cut(r)
	})
	if err := remove.call(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	put(t, store, "alice", fern)
	if late, err := dynamolocal.Forward(<-held); err != nil || late.StatusCode != http.StatusBadRequest {
		t.Errorf("the late request: %+v, %v", late, err)
	}
	wantPlants(t, store, fern)
}

// A plant whose creator's clock is ahead can be deleted at once.
func TestDeleteClockAhead(t *testing.T) {
	t.Parallel()
	_, client, table, write := newStore(t)
	proxy := dynamolocal.NewProxy(t, *client.Options().BaseEndpoint)
	store := dynamo.New(dynamolocal.Client(t, proxy.URL), table)
	write(item{"id": number("7"), "owner": str("alice"), "name": str("fern"), "write_token": str("key"),
		"created_at": str(time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))})

	// An unanswered attempt may have deleted another plant, before this one was
	// created.
	proxy.Fail("DeleteItem", dynamolocal.Cut)
	wantSentinel(t, "Delete after an unanswered attempt", remove.call(t.Context(), store), plants.ErrUnreachable)
	wantPlants(t, store, fern)

	proxy.Fail("DeleteItem", dynamolocal.Throttle)
	if err := remove.call(t.Context(), store); err != nil {
		t.Error(err)
	}
	wantPlants(t, store)
}
