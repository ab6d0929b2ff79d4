package dynamo_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/test/dynamolocal"
)

type attributes = map[string]types.AttributeValue

func str(v string) types.AttributeValue    { return &types.AttributeValueMemberS{Value: v} }
func number(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// Tables outlive the program, and several versions may use one at the same time. This
// item is from the first version: don't change it.
var oldItem = attributes{
	"id":          number("-7"),
	"owner":       str("alice"),
	"name":        str("fern"),
	"created_at":  str("2026-01-02T03:04:05.678Z"),
	"write_token": str("key"),
}

func TestItem(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: oldItem}); err != nil {
		t.Fatal(err)
	}
	plantstest.TestOldPlant(t, store, fern)

	before := time.Now().Truncate(time.Millisecond)
	put(t, store, "alice", plants.Plant{ID: -7, Name: "fern", Tag: new("")})
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: attributes{"id": number("-7")}})
	if err != nil {
		t.Fatal(err)
	}
	createdAt := got.Item["created_at"].(*types.AttributeValueMemberS).Value
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", createdAt); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("created_at is %q, want the current time in UTC", createdAt)
	}
	want := maps.Clone(oldItem)
	want["tag"], want["created_at"] = str(""), str(createdAt)
	delete(want, "write_token")
	if !reflect.DeepEqual(got.Item, want) {
		t.Errorf("a new item is %v, want %v", got.Item, want)
	}
}

// The error for an item that Create can't have written names the table, id and attribute.
// Even responses that DynamoDB never sends don't crash the program.
func TestMalformedItem(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	const failed = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"id":{"N":"1"},"owner":{"S":"alice"}`
	for _, test := range []struct {
		op         operation
		status     int
		body, want string
	}{
		{list, 200, `{"Items":[{"id":{"N":"1"},"name":{"N":"5"}}]}`, `id 1: attribute "name" is missing or not a string`},
		{list, 200, `{"Items":[{"id":{"N":"1"},"name":{"S":"fern"},"tag":{"NULL":true}}]}`, `id 1: attribute "tag" is missing or not a string`},
		{list, 200, `{"Items":[{"id":{"N":"9223372036854775808"}}]}`, `id 9223372036854775808: attribute "id" is missing or not a 64-bit integer`},
		{list, 200, `{"Items":[{"name":{"S":"fern"}}]}`, `id (unknown): attribute "id"`},
		{create, 400, failed + `,"name":{"N":"5"}}}`, `id 1: attribute "name"`},
		{remove, 400, failed + `}}`, `id 1: attribute "created_at" is missing or not a string`},
	} {
		proxy.Fail(test.op.request, dynamolocal.Reply(test.status, test.body))
		err := test.op.call(t.Context(), dynamo.New(client, "my-table"))
		wantSentinel(t, test.want, err, nil)
		if err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "my-table")) {
			t.Errorf("got %q, want %q and the table's name", err, test.want)
		}
	}
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "ConditionalCheckFailedException")) // without the item
	wantSentinel(t, "Create", create.call(t.Context(), dynamo.New(client, "my-table")), plants.ErrInUse)
}
