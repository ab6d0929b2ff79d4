package dynamo_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/testing/dynamolocal"
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

// Delete deletes only the plant that it has read. If another one has its id by then, the
// plant is gone, so Delete succeeds. This is also what a late attempt of a Delete meets.
func TestDeleteTakesWhatItRead(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]attributes{
		"created later": {"owner": str("alice"), "created_at": str("2026-01-02T03:04:05.679Z")},
		"of Bob":        {"owner": str("bob"), "created_at": storedItem["created_at"]},
	} {
		client, table := dynamolocal.Table(t)
		write := func(item attributes) {
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
			if err != nil {
				t.Error(err)
			}
		}
		proxy := dynamolocal.NewProxy(t, *client.Options().BaseEndpoint)
		write(storedItem)
		want := maps.Clone(storedItem)
		maps.Copy(want, newer)
		proxy.Fail("DeleteItem", func(r *http.Request) (*http.Response, error) {
			write(want)
			return dynamolocal.Forward(r)
		})
		if err := deleteFern(t.Context(), dynamo.New(dynamolocal.Client(t, proxy.URL), table)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		key := attributes{"id": storedItem["id"]}
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
		if err != nil || !reflect.DeepEqual(got.Item, want) {
			t.Errorf("%s: the table contains %v, %v, want %v", name, got.Item, err, want)
		}
	}
}

// DynamoDB Local before 2.2 doesn't return the plant that has the id, so nobody knows whose it is.
func TestConflictWithoutItem(t *testing.T) {
	client := newOffline(t, aws.Config{}, dynamolocal.Refuse(400, "ConditionalCheckFailedException"))
	err := create.call(t.Context(), dynamo.New(client, "plants"))
	wantSentinel(t, "Create", err, nil)
	if !strings.Contains(fmt.Sprint(err), "from version 2.2 on") {
		t.Errorf("error %q doesn't say which version returns it", err)
	}
}
