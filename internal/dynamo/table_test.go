package dynamo_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/dynamolocal"
)

// Concurrent calls create the table, which is then ready. A later call changes no plant.
func TestEnsureTable(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.TableName(t)
	store := dynamo.New(client, table)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := errors.Join(dynamo.New(client, table).EnsureTable(t.Context()), list.call(t.Context(), store))
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	put(t, store, "alice", plants.Plant{ID: 0})
	if err := dynamo.New(client, table).EnsureTable(t.Context()); err != nil {
		t.Error(err)
	}
	wantPlants(t, store, plants.Plant{ID: 0})
}

// If the table can't be created, the error names it. A lost response is not a failure.
func TestEnsureTableFails(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.TableName(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	proxy.Fail("CreateTable", dynamolocal.Refuse(400, "AccessDeniedException"), dynamolocal.After(dynamolocal.Cut))
	if err := dynamo.New(client, table).EnsureTable(t.Context()); err == nil ||
		!strings.HasPrefix(err.Error(), `creating the table "`+table+`": `) || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("got %v, want an error that names the table and the reason", err)
	}
	if err := dynamo.New(client, table).EnsureTable(t.Context()); err != nil {
		t.Errorf("after a lost response: %v", err)
	}
}

// Substitutes for DynamoDB Local may take a moment to create the table, which doesn't exist until then.
func TestEnsureTableWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready := time.Now().Add(3 * time.Second)
		client := newOffline(t, aws.Config{}, func(r *http.Request) (*http.Response, error) {
			_, request, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			creating := time.Now().Before(ready)
			switch {
			case request == "DescribeTable" && creating:
				return dynamolocal.Reply(200, `{"Table":{"TableStatus":"CREATING"}}`)(r)
			case request == "DescribeTable":
				return dynamolocal.Reply(200, `{"Table":{"TableStatus":"ACTIVE"}}`)(r)
			case request == "Query" && creating:
				return dynamolocal.Refuse(400, "ResourceNotFoundException")(r)
			}
			return dynamolocal.Reply(200, "{}")(r)
		})
		store := dynamo.New(client, "plants")
		err := errors.Join(store.EnsureTable(t.Context()), store.Ping(t.Context()))
		if late := time.Since(ready); err != nil || late > time.Second {
			t.Errorf("got %v, %v after the table was ready", err, late)
		}
	})
}
