package dynamo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

func key(names ...string) (schema []types.KeySchemaElement) {
	for i, name := range names {
		kind := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
		schema = append(schema, types.KeySchemaElement{AttributeName: &name, KeyType: kind})
	}
	return schema
}

// The checks accept a table with the right schema, and no other.
func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		change       func(*dynamodb.CreateTableInput) // of the schema
		table, index bool                             // whether they work
	}{
		"schema of the store": {func(*dynamodb.CreateTableInput) {}, true, true},
		"key of another name": {func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("number"), AttributeType: "N"})
			in.KeySchema = key("number")
		}, false, true},
		"key of another type": {func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions[0].AttributeType = types.ScalarAttributeTypeS
		}, false, false},
		"sort key": {func(in *dynamodb.CreateTableInput) { in.KeySchema = key("id", "owner") }, false, true},
		"no index": {func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions, in.GlobalSecondaryIndexes = in.AttributeDefinitions[:1], nil
		}, true, false},
		"index of another name": {func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].IndexName = aws.String("by-owner")
		}, true, false},
		"index without a sort key": {func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].KeySchema = key("owner")
		}, true, false},
		"index with another key": {func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].KeySchema = key("id", "owner")
		}, true, false},
		"index of keys only": {func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, table := newTableName(t)
			in := dynamo.TableInput(table)
			tt.change(in)
			if _, err := client.CreateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			store := dynamo.New(client, table)
			if err := store.CheckTable(t.Context()); (err == nil) != tt.table {
				t.Errorf("CheckTable returned %v, want success: %t", err, tt.table)
			}
			if err := store.CheckIndex(t.Context()); (err == nil) != tt.index {
				t.Errorf("CheckIndex returned %v, want success: %t", err, tt.index)
			}
			count, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
			if err != nil || count.Count != 0 {
				t.Errorf("the checks left %d items: %v", count.Count, err)
			}
		})
	}
}

// The check changes no plant, not even one with the id that it uses.
func TestCheckKeepsPlants(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	if err := store.Create(t.Context(), "alice", plants.Plant{Name: "Basil"}, "token"); err != nil {
		t.Fatal(err)
	}
	if err := store.CheckTable(t.Context()); err != nil {
		t.Error(err)
	}
	if page, err := store.List(t.Context(), "alice", plants.Query{Limit: 1}); err != nil || len(page.Plants) != 1 || page.Plants[0].Name != "Basil" {
		t.Errorf("plants after the check: %+v, %v", page.Plants, err)
	}
}

// A failed request of a check is reported, without DynamoDB's message for a wrong
// signature: it quotes the session token.
func TestCheckFails(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	_, table := dynamolocal.Table(t)
	for operation, check := range map[string]func(*dynamo.Store, context.Context) error{
		"PutItem": (*dynamo.Store).CheckTable, "DeleteItem": (*dynamo.Store).CheckTable, "Query": (*dynamo.Store).CheckIndex,
	} {
		for _, code := range []string{"AccessDeniedException", "InvalidSignatureException"} {
			proxy.Fail(operation, dynamolocal.Refuse(400, code))
			err := check(dynamo.New(client, table), t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), code+": ") || strings.Contains(err.Error(), "refused by a test") != (code == "AccessDeniedException") {
				t.Errorf("%s answers %s: %v", operation, code, err)
			}
		}
	}
	if err := dynamo.New(client, "no-such-table").CheckTable(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "ResourceNotFoundException: ") {
		t.Errorf("missing table: %v", err)
	}
}
