package dynamo_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

var discard = slog.New(slog.DiscardHandler)

var fern = plants.Plant{ID: 7, Name: "fern"}

// An operation is a call of the store, with the DynamoDB request that it makes.
type operation struct {
	name    string
	request string
	call    func(context.Context, plants.Store) error
}

var (
	create = operation{"Create", "PutItem", func(ctx context.Context, s plants.Store) error {
		return s.Create(ctx, "alice", fern, plants.NewIdempotencyKey())
	}}
	list = operation{"List", "Query", func(ctx context.Context, s plants.Store) error {
		_, err := s.List(ctx, "alice", plants.Query{Limit: 10})
		return err
	}}
	remove = operation{"Delete", "DeleteItem", func(ctx context.Context, s plants.Store) error {
		return s.Delete(ctx, "alice", fern.ID)
	}}
	operations = []operation{create, list, remove}
)

// eachOperation runs a test of each operation, all at the same time, since they
// mostly wait.
func eachOperation(test func(operation)) {
	var wg sync.WaitGroup
	for _, op := range operations {
		wg.Go(func() { test(op) })
	}
	wg.Wait()
}

// newFaulty returns a store with an empty table, and the proxy that it uses.
func newFaulty(t *testing.T) (*dynamo.Store, *dynamolocal.Proxy) {
	t.Helper()
	_, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	return dynamo.New(dynamolocal.Client(t, proxy.URL), table), proxy
}

// newImpatient is newFaulty with the time limit of an attempt in production.
func newImpatient(t *testing.T) (*dynamo.Store, *dynamolocal.Proxy) {
	t.Helper()
	_, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client, err := dynamo.NewClient(dynamolocal.Config(proxy.URL), discard)
	if err != nil {
		t.Fatal(err)
	}
	return dynamo.New(client, table), proxy
}

// wantSentinel checks that err matches want and no other error that callers
// test for. With want nil it must be an error that matches none of them.
func wantSentinel(t *testing.T, name string, err, want error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
	}
	for _, sentinel := range []error{
		plants.ErrInUse, plants.ErrKeyReused, plants.ErrNotFound, plants.ErrThrottled, plants.ErrUnreachable, plants.ErrUnwritable,
		context.DeadlineExceeded, context.Canceled,
	} {
		if got := errors.Is(err, sentinel); got != (sentinel == want) {
			t.Errorf("%s: errors.Is(%q, %q) is %t", name, err, sentinel, got)
		}
	}
}

// wantPlants checks alice's list, and waits for the index to catch up.
func wantPlants(t *testing.T, store plants.Store, want ...plants.Plant) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		page, err := store.List(t.Context(), "alice", plants.Query{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if slices.EqualFunc(page.Plants, want, plants.Plant.Same) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the list is %v, want %v", page.Plants, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
