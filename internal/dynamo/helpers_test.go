package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
)

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("", 3600) // not UTC, which items must use
	harness.Main(m)
}

var discard = slog.New(slog.DiscardHandler)

var fern = plants.Plant{ID: -7, Name: "fern"}

// An operation is a call of the store, with a DynamoDB request that it sends
// and alice's plants before and after it. Delete sends two requests.
type operation struct {
	name       string
	request    string
	start, end []plants.Plant
	call       func(context.Context, plants.Store) error
}

var (
	create = operation{"Create", "PutItem", nil, []plants.Plant{fern}, func(ctx context.Context, s plants.Store) error {
		return s.Create(ctx, "alice", fern)
	}}
	list = operation{"List", "Query", []plants.Plant{fern}, []plants.Plant{fern},
		func(ctx context.Context, s plants.Store) error {
			_, _, err := s.List(ctx, "alice", nil, 10)
			return err
		}}
	read       = operation{"Delete", "GetItem", []plants.Plant{fern}, nil, deleteFern}
	remove     = operation{"Delete", "DeleteItem", []plants.Plant{fern}, nil, deleteFern}
	operations = []operation{
		create,
		list,
		read,
		remove,
	}
)

func deleteFern(ctx context.Context, s plants.Store) error { return s.Delete(ctx, "alice", fern.ID) }

// meets returns a DynamoDB for [newOffline] on which op's request meets the fault, and other
// requests find the plant.
func (op operation) meets(f dynamolocal.Fault) dynamolocal.Fault {
	return func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+op.request) {
			return f(r)
		}
		return dynamolocal.Reply(200, `{"Item":{"id":{"N":"-7"},"owner":{"S":"alice"},"created_at":{"S":"t"}}}`)(r)
	}
}

// newFaulty returns a store with an empty table, and the proxy that it uses. Its requests
// have three attempts, without a time limit.
func newFaulty(t *testing.T) (plants.Store, *dynamolocal.Proxy) {
	t.Helper()
	_, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client, err := dynamo.NewClient(aws.Config{BaseEndpoint: &proxy.URL, RetryMaxAttempts: 3}, discard)
	if err != nil {
		t.Fatal(err)
	}
	dynamo.Transport(client).ResponseHeaderTimeout = 0 // a busy machine may be slow
	return dynamo.New(client, table), proxy
}

// newFromEnv returns a client with the settings of the environment, see [setEnv].
func newFromEnv(t *testing.T) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClientFromEnv(t.Context(), discard)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newOffline returns a client whose attempts get the responses of dynamoDB, without a
// network. So a test can run in a synctest bubble, where time doesn't depend on the
// machine.
func newOffline(t *testing.T, cfg aws.Config, dynamoDB dynamolocal.Fault) *dynamodb.Client {
	t.Helper()
	cfg.BaseEndpoint = aws.String("http://dynamodb.test")
	client, err := dynamo.NewClient(cfg, discard)
	if err != nil {
		t.Fatal(err)
	}
	client.Options().HTTPClient.(*http.Client).Transport = dynamoDB
	return client
}

// put creates plants of owner. It may run in any goroutine.
func put(t *testing.T, store plants.Store, owner string, all ...plants.Plant) {
	t.Helper()
	for _, r := range all {
		if err := store.Create(t.Context(), owner, r); err != nil {
			t.Error(err)
		}
	}
}

// wantSentinel checks that err matches want and no other error that callers
// test for. With want nil it must be an error that matches none of them.
func wantSentinel(t *testing.T, name string, err, want error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
	}
	for _, sentinel := range []error{
		plants.ErrInUse, plants.ErrExists, plants.ErrNotFound,
		plants.ErrThrottled, plants.ErrUnreachable, plants.ErrUnwritable,
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
	harness.Await(t, func() error {
		list, _, err := store.List(t.Context(), "alice", nil, 10)
		if err == nil && !slices.EqualFunc(list, want, func(a, b plants.Plant) bool { return reflect.DeepEqual(a, b) }) {
			err = fmt.Errorf("the list is %v, want %v", list, want)
		}
		return err
	})
}
