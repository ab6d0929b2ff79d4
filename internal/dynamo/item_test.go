package dynamo_test

import (
	"context"
	"fmt"
	"maps"
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

// The format of an item must not change: tables outlive the program.
func TestItem(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	before := time.Now().Truncate(time.Millisecond)
	for _, p := range []plants.Plant{{ID: -9223372036854775808, Name: "fern"}, {ID: 1, Name: "fern", Tag: new("")}} {
		if err := store.Create(t.Context(), "alice", p, "token"); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]map[string]string{
		"-9223372036854775808": {"owner": "alice", "name": "fern", "write_token": "token"},
		"1":                    {"owner": "alice", "name": "fern", "write_token": "token", "tag": ""},
	} {
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: item{"id": number(id)}})
		if err != nil {
			t.Fatal(err)
		}
		attributes := make(map[string]string)
		for name, v := range got.Item {
			if v, ok := v.(*types.AttributeValueMemberS); ok {
				attributes[name] = v.Value
			}
		}
		created, err := time.Parse("2006-01-02T15:04:05.000Z", attributes["created_at"])
		if err != nil || created.Before(before) || created.After(time.Now()) {
			t.Errorf("plant %s: created_at is %q, want the current time in UTC", id, attributes["created_at"])
		}
		delete(attributes, "created_at")
		if !maps.Equal(attributes, want) {
			t.Errorf("plant %s: item %v, want %v", id, attributes, want)
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

func TestOldRecord(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: oldItem}); err != nil {
		t.Fatal(err)
	}
	plantstest.TestOldRecord(t, dynamo.New(client, table))
}

// The error for an item that another program wrote names table, id and fault.
func TestMalformedItem(t *testing.T) {
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	create := func(ctx context.Context, owner string, id int64) error {
		return store.Create(ctx, owner, plants.Plant{ID: id, Name: "fern"}, "token")
	}
	list := func(ctx context.Context, owner string, _ int64) error {
		_, err := store.List(ctx, owner, plants.Query{Limit: 10})
		return err
	}
	remove := store.Delete
	for i, test := range []struct {
		attribute string
		value     types.AttributeValue // nil: none
		call      func(ctx context.Context, owner string, id int64) error
		want      string
	}{
		{"owner", nil, create, `attribute "owner" is missing or not a string`},
		{"write_token", nil, create, `attribute "write_token" is missing or not a string`},
		{"name", nil, create, `attribute "name" is missing or not a string`},
		{"tag", number("1"), create, `attribute "tag" is missing or not a string`},
		{"name", nil, list, `attribute "name" is missing or not a string`},
		{"tag", &types.AttributeValueMemberNULL{Value: true}, list, `attribute "tag" is missing or not a string`},
		{"created_at", nil, remove, `attribute "created_at" is missing or not a string`},
		{"id", number("9223372036854775808"), list, `id 9223372036854775808: attribute "id" is missing or not a 64-bit integer`},
	} {
		t.Run(test.want, func(t *testing.T) {
			id, owner := int64(i), fmt.Sprint("owner ", i)
			it := item{"id": number(strconv.FormatInt(id, 10)), "owner": str(owner), "name": str("fern"), "write_token": str("token"), "created_at": str("2026")}
			it[test.attribute] = test.value
			if test.value == nil {
				delete(it, test.attribute)
			}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
				t.Fatal(err)
			}
			err := test.call(t.Context(), owner, id)
			wantSentinel(t, "error", err, nil)
			if err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), table)) {
				t.Errorf("got %q, want %q and the table's name", err, test.want)
			}
		})
	}
}

// Answers that DynamoDB can't give don't crash the program.
func TestMalformedAnswer(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	for _, body := range []string{`{"Items":[{"name":{"S":"fern"}}]}`, `{"Items":[{"id":{"S":"5"},"name":{"S":"fern"}}]}`} {
		proxy.Fail("Query", dynamolocal.Reply(200, body))
		if err := list.call(t.Context(), store); err == nil || !strings.Contains(err.Error(), `id (unknown): attribute "id"`) {
			t.Errorf("%s: %v, want an error about the id", body, err)
		}
	}
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "ConditionalCheckFailedException"))
	err := create.call(t.Context(), store)
	wantSentinel(t, "Create without the existing item", err, nil)
	if err != nil && !strings.Contains(err.Error(), `attribute "owner" is missing or not a string`) {
		t.Errorf("got %v, want an error about the owner", err)
	}
}
