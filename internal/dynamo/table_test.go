package dynamo_test

import (
	"context"
	"strings"
	"sync"
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

// The checks, and EnsureTable with them, accept a table with the right schema,
// and no other.
func TestSchema(t *testing.T) {
	for name, test := range map[string]struct {
		table, index bool                             // whether their checks accept the schema
		change       func(*dynamodb.CreateTableInput) // of the schema
	}{
		"key of another name": {false, true, func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("number"), AttributeType: "N"})
			in.KeySchema = key("number")
		}},
		"key of another type":      {false, false, func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeType = "S" }},
		"sort key":                 {false, true, func(in *dynamodb.CreateTableInput) { in.KeySchema = key("id", "owner") }},
		"index of another name":    {true, false, func(in *dynamodb.CreateTableInput) { *in.GlobalSecondaryIndexes[0].IndexName = "by-owner" }},
		"index without a sort key": {true, false, func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].KeySchema = key("owner") }},
		"index with another key":   {true, false, func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].KeySchema = key("id", "owner") }},
		"index of keys only": {true, false, func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection.ProjectionType = "KEYS_ONLY"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, table := dynamolocal.TableName(t)
			in := dynamo.TableInput(table)
			test.change(in)
			if _, err := client.CreateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			store := dynamo.New(client, table)
			if err := store.CheckTable(t.Context()); (err == nil) != test.table {
				t.Errorf("CheckTable returned %v, want success: %t", err, test.table)
			}
			if err := store.CheckIndex(t.Context()); (err == nil) != test.index {
				t.Errorf("CheckIndex returned %v, want success: %t", err, test.index)
			}
			if err := dynamo.EnsureTable(t.Context(), client, table); err == nil || !strings.HasPrefix(err.Error(), `table "`+table+`": ValidationException: `) {
				t.Errorf("EnsureTable returned %v, want the table's name and DynamoDB's reason", err)
			}
		})
	}
}

// The check changes no plant, not even one with the id that it uses.
func TestCheckKeepsPlants(t *testing.T) {
	t.Parallel()
	store, _ := newFaulty(t, 0)
	put(t, store, "alice", plants.Plant{Name: "fern"})
	if err := store.CheckTable(t.Context()); err != nil {
		t.Error(err)
	}
	wantPlants(t, store, plants.Plant{Name: "fern"})
}

// A failed request of a check is reported by its code, without more of DynamoDB's
// message for a wrong signature, which quotes the session token.
func TestCheckFails(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
	for operation, check := range map[string]func(context.Context) error{
		"PutItem": store.CheckTable, "DeleteItem": store.CheckTable, "Query": store.CheckIndex,
	} {
		for code, message := range map[string]string{
			"AccessDeniedException":     "refused by a test",
			"ResourceNotFoundException": "refused by a test",
			"InvalidSignatureException": "the signature is wrong or has expired",
		} {
			proxy.Fail(operation, dynamolocal.Refuse(400, code))
			if err := check(t.Context()); err == nil || err.Error() != code+": "+message {
				t.Errorf("%s answers %s: %v", operation, code, err)
			}
		}
	}
}

func TestEnsureTableConcurrently(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.TableName(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
				t.Error(err)
				return
			}
			// It is ready, whoever created it.
			if err := list.call(t.Context(), dynamo.New(client, table)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestEnsureTableFaults(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.TableName(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	proxy.Fail("CreateTable", dynamolocal.Refuse(400, "AccessDeniedException"))
	if err := dynamo.EnsureTable(t.Context(), client, table); err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("got %v, want an error that names the table and the reason", err)
	}
	proxy.Fail("CreateTable", dynamolocal.After(dynamolocal.Cut))
	if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
		t.Errorf("answer lost: %v", err)
	}
}

// If the table vanishes, a call says what to do: the next start creates it again.
func TestMissingTable(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.TableName(t)
	for range 2 {
		if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
			t.Fatal(err)
		}
		store := dynamo.New(client, table)
		put(t, store, "alice", fern)
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
			t.Fatal(err)
		}
		if err := create.call(t.Context(), store); err == nil || !strings.Contains(err.Error(), "restart the server") {
			t.Errorf("without the table: %v", err)
		}
	}
}

// On AWS the table is part of the deployment.
func TestEnsureTableOnAWS(t *testing.T) {
	client := dynamodb.New(dynamodb.Options{BaseEndpoint: new("https://127.0.0.1:1")}) // the scheme of AWS
	if err := dynamo.EnsureTable(t.Context(), client, "plants"); err != nil {
		t.Errorf("%v, want no request", err)
	}
}
