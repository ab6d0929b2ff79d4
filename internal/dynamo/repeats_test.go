package dynamo_test

import (
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// lost are the faults after which a request was carried out, unknown to the
// client.
var lost = map[string]dynamolocal.Fault{
	"connection cut":        dynamolocal.After(dynamolocal.Cut),
	"answer too late":       dynamolocal.After(dynamolocal.Hang),
	"answer truncated":      dynamolocal.Truncate,
	"answer stalled":        dynamolocal.Stall,
	"server error after it": dynamolocal.After(dynamolocal.Refuse(500, "InternalServerError")),
	"answer corrupted":      dynamolocal.Corrupt,
	"answer unreadable":     dynamolocal.After(dynamolocal.Garble),
}

// A request whose answer was lost has its effect once, and succeeds.
func TestAnswerLost(t *testing.T) {
	for name, fault := range lost {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newImpatient(t)
			proxy.Fail("PutItem", fault)
			proxy.Fail("DeleteItem", fault)

			if err := create.call(t.Context(), store); err != nil {
				t.Errorf("Create: %v", err)
			}
			wantPlants(t, store, fern)
			if err := remove.call(t.Context(), store); err != nil {
				t.Errorf("Delete: %v", err)
			}
			wantPlants(t, store)
			if puts, deletes := proxy.Count("PutItem"), proxy.Count("DeleteItem"); puts < 2 || deletes < 2 {
				t.Errorf("%d PutItem and %d DeleteItem, want 2 of each", puts, deletes)
			}
		})
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
			store, proxy := newFaulty(t)
			proxy.Fail("DeleteItem", test.fault)
			if err := remove.call(t.Context(), store); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}

			// Another owner's plant is not a deleted one.
			if err := store.Create(t.Context(), "bob", fern, plants.NewIdempotencyKey()); err != nil {
				t.Fatal(err)
			}
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

// A Create takes no other plant for its own, even if an attempt of it may have
// been carried out.
func TestCreateFindsAnother(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	if err := store.Create(t.Context(), "bob", fern, plants.NewIdempotencyKey()); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []dynamolocal.Fault{dynamolocal.Cut, dynamolocal.Unavailable, dynamolocal.After(dynamolocal.Cut)} {
		proxy.Fail("PutItem", fault)
		wantSentinel(t, "Create", create.call(t.Context(), store), plants.ErrInUse)
	}
}
