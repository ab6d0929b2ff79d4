package dynamo_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// A call whose first response is lost takes effect once, and succeeds.
func TestResponseLost(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)
			put(t, store, "alice", op.start...)
			wantPlants(t, store, op.start...)

			proxy.Fail(op.request, dynamolocal.After(dynamolocal.Cut))
			if err := op.call(t.Context(), store); err != nil {
				t.Error(err)
			}
			wantPlants(t, store, op.end...)
		})
	}
}

// A retry that finds no plant, or another plant, reports that only if DynamoDB can't have
// carried out the first attempt. Otherwise the first attempt may have stored Alice's plant,
// which Bob's has replaced since. Or it may store her plant later, after Bob has deleted his.
func TestRetryFindsAnotherPlant(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault                            dynamolocal.Fault
		nothing, notFound, inUse, exists error
	}{
		{dynamolocal.Throttle, plants.ErrNotFound, plants.ErrNotFound, plants.ErrInUse, plants.ErrExists},
		{dynamolocal.Cut, nil, plants.ErrUnreachable, plants.ErrUnreachable, plants.ErrUnreachable},
		{dynamolocal.Refuse(500, "InternalServerError"), nil, plants.ErrUnreachable, plants.ErrUnreachable, plants.ErrUnreachable},
		{truncate, nil, plants.ErrUnreachable, plants.ErrUnreachable, plants.ErrUnreachable},
	} {
		store, proxy := newFaulty(t)
		proxy.Fail("DeleteItem", test.fault)
		if err := remove.call(t.Context(), store); !errors.Is(err, test.nothing) {
			t.Errorf("Delete of nothing: %v, want %v", err, test.nothing)
		}
		put(t, store, "bob", fern)
		proxy.Fail("DeleteItem", test.fault)
		wantSentinel(t, "Delete of Bob's plant", remove.call(t.Context(), store), test.notFound)
		proxy.Fail("PutItem", test.fault)
		wantSentinel(t, "Create of Bob's id", create.call(t.Context(), store), test.inUse)
		if err := store.Create(t.Context(), "alice", plants.Plant{ID: 8}); err != nil {
			t.Fatal(err)
		}
		proxy.Fail("PutItem", test.fault)
		err := store.Create(t.Context(), "alice", plants.Plant{ID: 8, Name: fern.Name})
		wantSentinel(t, "Create of an id of her own", err, test.exists)
		if errors.Is(err, plants.ErrUnreachable) && !strings.Contains(err.Error(), ", after an attempt without a usable response: ") {
			t.Errorf("the error doesn't mention the first attempt: %v", err)
		}
	}
}

// Without a connection, DynamoDB can't have carried out an attempt, even if the attempt had
// a connection to the source of the credentials.
func TestDeleteAfterNoConnection(t *testing.T) {
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"AccessKeyId":"local","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}`)
	}))
	defer source.Close()
	_, table := dynamolocal.Table(t)
	setEnv(t, "AWS_REGION=local AWS_CONTAINER_CREDENTIALS_FULL_URI="+source.URL+" AWS_ENDPOINT_URL_DYNAMODB="+dynamolocal.Endpoint(t))
	client := newFromEnv(t)
	addresses := []string{"127.0.0.1:1"} // nothing listens there
	transport := client.Options().HTTPClient.(*http.Client).Transport.(*http.Transport)
	transport.ResponseHeaderTimeout = 0 // a busy machine may be slow
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		addresses = append(addresses, address)
		address, addresses = addresses[0], addresses[1:]
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	wantSentinel(t, "Delete", remove.call(t.Context(), dynamo.New(client, table)), plants.ErrNotFound)
}

// hold keeps the next request of the operation and cuts its connection. The
// function late carries the request out and returns the status.
func hold(t *testing.T, proxy *dynamolocal.Proxy, operation string) (late func() int) {
	held := make(chan *http.Request, 1)
	proxy.Fail(operation, func(r *http.Request) (*http.Response, error) {
		held <- r
		return dynamolocal.Cut(r)
	})
	return func() int {
		resp, err := dynamolocal.Forward(<-held)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
}

// A Delete that DynamoDB carries out after its call has returned doesn't delete a
// newer plant with the same id.
func TestLateDelete(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	put(t, store, "alice", fern)
	late := hold(t, proxy, "DeleteItem")
	if err := remove.call(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	put(t, store, "alice", fern)
	if status := late(); status != http.StatusBadRequest {
		t.Errorf("the late request: status %d", status)
	}
	wantPlants(t, store, fern)
}

// A plant whose creator's clock is ahead can be deleted at once.
func TestDeleteClockAhead(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *client.Options().BaseEndpoint)
	store := dynamo.New(dynamolocal.Client(t, proxy.URL), table)
	ahead := maps.Clone(oldItem)
	ahead["created_at"] = str(time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: ahead}); err != nil {
		t.Fatal(err)
	}

	// An attempt without a response may have deleted another plant, before this one
	// was created.
	proxy.Fail("DeleteItem", dynamolocal.Cut)
	wantSentinel(t, "Delete after a lost response", remove.call(t.Context(), store), plants.ErrUnreachable)
	wantPlants(t, store, fern)

	// The second request, which deletes the plant, gets no response. Its retry finds none.
	proxy.Fail("DeleteItem", dynamolocal.Throttle, nil, dynamolocal.After(dynamolocal.Cut))
	if err := remove.call(t.Context(), store); err != nil {
		t.Error(err)
	}
	wantPlants(t, store)
}
