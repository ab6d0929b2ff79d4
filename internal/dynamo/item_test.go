package dynamo_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strconv"
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

type item = map[string]types.AttributeValue

func str(v string) types.AttributeValue    { return &types.AttributeValueMemberS{Value: v} }
func number(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// newStore returns a store, and a function that writes an item into its table.
func newStore(t *testing.T) (store *dynamo.Store, client *dynamodb.Client, table string, write func(item)) {
	client, table = dynamolocal.Table(t)
	return dynamo.New(client, table), client, table, func(it item) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
			t.Fatal(err)
		}
	}
}

// Tables outlive the program, and versions of it use one at the same time. This is
// the item of the first version: don't change it.
var oldItem = item{
	"id":          number("-7"),
	"owner":       str("alice"),
	"name":        str("fern"),
	"created_at":  str("2026-01-02T03:04:05.678Z"),
	"write_token": str("key"),
}

func TestItem(t *testing.T) {
	t.Parallel()
	store, client, table, write := newStore(t)
	write(oldItem)
	plantstest.TestOldRecord(t, store)

	before := time.Now().Truncate(time.Millisecond)
	if err := store.Create(t.Context(), "alice", plants.Plant{ID: -7, Name: "fern", Tag: new("")}, "key"); err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: item{"id": number("-7")}})
	if err != nil {
		t.Fatal(err)
	}
	createdAt := got.Item["created_at"].(*types.AttributeValueMemberS).Value
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", createdAt); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("created_at is %q, want the current time in UTC", createdAt)
	}
	want := maps.Clone(oldItem)
	want["tag"], want["created_at"] = str(""), str(createdAt)
	for name, v := range want {
		if !reflect.DeepEqual(got.Item[name], v) {
			t.Errorf("a new item has %s %v, want %v", name, got.Item[name], v)
		}
	}
}

// The error for an item that another program wrote names table, id and fault.
func TestMalformedItem(t *testing.T) {
	t.Parallel()
	store, _, table, write := newStore(t)
	create := func(ctx context.Context, owner string, id int64) error {
		return store.Create(ctx, owner, plants.Plant{ID: id, Name: "fern"}, "key")
	}
	list := func(ctx context.Context, owner string, _ int64) error {
		_, err := store.List(ctx, owner, plants.Query{Limit: 10})
		return err
	}
	for i, test := range []struct {
		attribute string
		value     types.AttributeValue // nil: none
		call      func(ctx context.Context, owner string, id int64) error
		want      string
	}{
		{"name", nil, create, `id 0: attribute "name" is missing or not a string`},
		{"name", nil, list, `id 1: attribute "name" is missing or not a string`},
		{"tag", &types.AttributeValueMemberNULL{Value: true}, list, `id 2: attribute "tag" is missing or not a string`},
		{"created_at", nil, store.Delete, `id 3: attribute "created_at" is missing or not a string`},
		{"id", number("9223372036854775808"), list, `id 9223372036854775808: attribute "id" is missing or not a 64-bit integer`},
	} {
		id, owner := int64(i), fmt.Sprint("owner ", i)
		it := item{"id": number(strconv.FormatInt(id, 10)), "owner": str(owner), "name": str("fern"), "write_token": str("key"), "created_at": str("2026")}
		it[test.attribute] = test.value
		if test.value == nil {
			delete(it, test.attribute)
		}
		write(it)
		err := test.call(t.Context(), owner, id)
		wantSentinel(t, test.want, err, nil)
		if err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), table)) {
			t.Errorf("got %q, want %q and the table's name", err, test.want)
		}
	}
}

// Answers that DynamoDB can't give don't crash the program.
func TestMalformedAnswer(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
	for _, body := range []string{`{"Items":[{"name":{"S":"fern"}}]}`, `{"LastEvaluatedKey":{"id":{"S":"5"}}}`} {
		proxy.Fail("Query", dynamolocal.Reply(200, body))
		if err := list.call(t.Context(), store); err == nil || !strings.Contains(err.Error(), `id (unknown): attribute "id"`) {
			t.Errorf("%s: %v, want an error about the id", body, err)
		}
	}
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "ConditionalCheckFailedException")) // without the item
	wantSentinel(t, "Create", create.call(t.Context(), store), plants.ErrInUse)
}
