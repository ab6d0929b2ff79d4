package dynamo_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

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
		!strings.HasPrefix(err.Error(), `create the table "`+table+`": `) || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("got %v, want an error that names the table and the reason", err)
	}
	if err := dynamo.New(client, table).EnsureTable(t.Context()); err != nil {
		t.Errorf("after a lost response: %v", err)
	}
}
