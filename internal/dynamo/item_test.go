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
	"example.com/plantstore/internal/testing/dynamolocal"
)

type attributes = map[string]types.AttributeValue

func str(v string) types.AttributeValue    { return &types.AttributeValueMemberS{Value: v} }
func number(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// storedItem is fern as the table keeps it, with an attribute that the program doesn't know,
// for example from a later version that uses the same table.
var storedItem = attributes{
	"id":         number("-7"),
	"owner":      str("alice"),
	"name":       str("fern"),
	"created_at": str("2026-01-02T03:04:05.678Z"),
	"unknown":    str("x"),
}

func TestItem(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: storedItem}); err != nil {
		t.Fatal(err)
	}
	plantstest.TestOldPlant(t, store, fern)

	for _, test := range []struct {
		tag  *string
		want types.AttributeValue // nil if the item has no tag
	}{{nil, nil}, {new(""), str("")}} {
		before := time.Now().Truncate(time.Millisecond)
		put(t, store, "alice", plants.Plant{ID: -7, Name: "fern", Tag: test.tag})
		key := attributes{"id": storedItem["id"]}
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		createdAt := got.Item["created_at"].(*types.AttributeValueMemberS).Value
		at, err := time.Parse("2006-01-02T15:04:05.000Z", createdAt)
		if err != nil || at.Before(before) || at.After(time.Now()) {
			t.Errorf("created_at is %q, want the current time in UTC", createdAt)
		}
		want := maps.Clone(storedItem)
		want["created_at"], want["tag"], want["unknown"] = str(createdAt), test.want, nil
		for name, value := range want {
			if !reflect.DeepEqual(got.Item[name], value) {
				t.Errorf("in a new item, %s is %v, want %v", name, got.Item[name], value)
			}
		}
		if err := deleteFern(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
}

// The error for an item that Create can't have written names the table, the id and the reason.
// A Delete that ignored such an item would succeed and delete nothing.
func TestMalformedItem(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	store := dynamo.New(dynamolocal.Client(t, proxy.URL), "my-table")
	for _, test := range []struct {
		op         operation
		body, want string
	}{
		{list, `{"Items":[{"id":{"N":"9223372036854775808"}}]}`, "id 9223372036854775808: "},
		{read, `{"Item":{"id":{"N":"1"},"owner":{"S":"alice"}}}`, "has no created_at"},
	} {
		proxy.Fail(test.op.request, dynamolocal.Reply(200, test.body))
		err := test.op.call(t.Context(), store)
		wantSentinel(t, test.want, err, nil)
		if err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "my-table")) {
			t.Errorf("got %q, want %q and the table's name", err, test.want)
		}
	}
}
