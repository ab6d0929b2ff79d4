package dynamo_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

type item = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// What is in the table outlives the program that wrote it.
func TestItem(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	empty := ""
	before := time.Now().Truncate(time.Second)
	for _, p := range []plants.Plant{{ID: -9223372036854775808, Name: "fern"}, {ID: 1, Name: "fern", Tag: &empty}} {
		if err := store.Create(t.Context(), "alice", p, "token"); err != nil {
			t.Fatal(err)
		}
	}

	for id, want := range map[string]map[string]string{
		"-9223372036854775808": {"owner": "alice", "name": "fern", "write_token": "token"},
		"1":                    {"owner": "alice", "name": "fern", "write_token": "token", "tag": ""},
	} {
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: item{"id": n(id)}})
		if err != nil {
			t.Fatal(err)
		}
		attributes := make(map[string]string)
		for name, v := range got.Item {
			if v, ok := v.(*types.AttributeValueMemberS); ok {
				attributes[name] = v.Value
			}
		}
		created, err := time.Parse("2006-01-02T15:04:05Z", attributes["created_at"])
		if err != nil || created.Before(before) || created.After(time.Now()) {
			t.Errorf("plant %s: created_at is %q, want the time now in UTC", id, attributes["created_at"])
		}
		delete(attributes, "created_at")
		if !maps.Equal(attributes, want) {
			t.Errorf("plant %s: item %v, want %v", id, attributes, want)
		}
	}
}

// Items that someone else put into the table are errors that say so.
func TestMalformedItem(t *testing.T) {
	whole := func() item {
		return item{"id": n("5"), "owner": s("alice"), "name": s("fern"), "write_token": s("token")}
	}
	create := func(ctx context.Context, store plants.Store) error {
		return store.Create(ctx, "alice", plants.Plant{ID: 5, Name: "fern"}, "token")
	}
	list := func(ctx context.Context, store plants.Store) error {
		_, err := store.List(ctx, "alice", plants.Query{Limit: 10})
		return err
	}
	for _, test := range []struct {
		name  string
		spoil func(item)
		call  func(context.Context, plants.Store) error
		want  string
	}{
		{"Create, no owner", func(it item) { delete(it, "owner") }, create, `id 5 that this program did not write: attribute "owner" is missing`},
		{"Create, no token", func(it item) { delete(it, "write_token") }, create, `attribute "write_token" is missing`},
		{"Create, no name", func(it item) { delete(it, "name") }, create, `attribute "name" is missing`},
		{"Create, odd tag", func(it item) { it["tag"] = n("1") }, create, `attribute "tag" is no string`},
		{"List, no name", func(it item) { delete(it, "name") }, list, `id 5 that this program did not write: attribute "name" is missing`},
		{"List, odd name", func(it item) { it["name"] = n("1") }, list, `attribute "name" is no string`},
		{"List, odd tag", func(it item) { it["tag"] = &types.AttributeValueMemberNULL{Value: true} }, list, `attribute "tag" is no string`},
		{"List, fraction", func(it item) { it["id"] = n("1.5") }, list, `id 1.5 that this program did not write: attribute "id" is no 64-bit integer: 1.5`},
		{"List, too large", func(it item) { it["id"] = n("9223372036854775808") }, list, `attribute "id" is no 64-bit integer: 9223372036854775808`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client, table := dynamolocal.Table(t)
			it := whole()
			test.spoil(it)
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
				t.Fatal(err)
			}
			err := test.call(t.Context(), dynamo.New(client, table))
			wantSentinel(t, test.name, err, nil)
			if err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), table)) {
				t.Errorf("got %q, want it to name the table and say %q", err, test.want)
			}
		})
	}
}

// An answer that breaks the protocol is an error, too.
func TestItemsOutOfShape(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no id":        `{"Items":[{"name":{"S":"fern"}}]}`,
		"id no number": `{"Items":[{"id":{"S":"5"},"name":{"S":"fern"}}]}`,
		"no item":      `{"Items":[{}]}`,
	} {
		store, proxy := newFaulty(t)
		proxy.Fail("Query", answer(200, body))
		if _, err := store.List(t.Context(), "alice", plants.Query{Limit: 1}); err == nil || !strings.Contains(err.Error(), `attribute "id"`) {
			t.Errorf("%s: %v, want an error about the id", name, err)
		}
	}
	store, proxy := newFaulty(t)
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "ConditionalCheckFailedException"))
	err := create.call(t.Context(), store)
	if err == nil || errors.Is(err, plants.ErrInUse) || !strings.Contains(err.Error(), `attribute "owner" is missing`) {
		t.Errorf("Create without the old item: %v, want an error about its owner", err)
	}
}

func answer(status int, body string) dynamolocal.Fault {
	return func(x *dynamolocal.Exchange) {
		x.W.Header().Set("Content-Type", "application/x-amz-json-1.0")
		x.W.WriteHeader(status)
		x.W.Write([]byte(body))
	}
}
