package dynamo_test

import (
	"errors"
	"fmt"
	"regexp"
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

// EnsureTable, which calls Probe, accepts no table with another schema. ProbeIndex
// ignores differences outside the index.
func TestSchema(t *testing.T) {
	for name, test := range map[string]struct {
		index  bool                             // whether ProbeIndex accepts the schema
		change func(*dynamodb.CreateTableInput) // of the schema
	}{
		"key of another name": {true, func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("number"), AttributeType: "N"})
			in.KeySchema = key("number")
		}},
		"key of another type":      {false, func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeType = "S" }},
		"sort key":                 {true, func(in *dynamodb.CreateTableInput) { in.KeySchema = key("id", "owner") }},
		"index of another name":    {false, func(in *dynamodb.CreateTableInput) { *in.GlobalSecondaryIndexes[0].IndexName = "by-owner" }},
		"index without a sort key": {false, func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].KeySchema = key("owner") }},
		"index with another key":   {false, func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].KeySchema = key("id", "owner") }},
		"index of keys only": {false, func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection.ProjectionType = "KEYS_ONLY"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, table := dynamolocal.TableName(t)
			in := dynamo.TableInput(table)
			test.change(in)
			if _, err := client.SDK.CreateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if err := dynamo.ProbeIndex(t.Context(), client, table); (err == nil) != test.index {
				t.Errorf("ProbeIndex returned %v, want success: %t", err, test.index)
			}
			if err := dynamo.EnsureTable(t.Context(), client, table); err == nil || !strings.Contains(err.Error(), "use a table with another name") ||
				!regexp.MustCompile(`^table "`+table+`": (index: )?ValidationException: `).MatchString(err.Error()) {
				t.Errorf("EnsureTable returned %v, want the table's name, DynamoDB's reason and what to do", err)
			}
		})
	}
}

// A failed request of a probe is reported by its code and message. That for a wrong
// signature would quote the session token.
func TestProbeFails(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	for operation, prefix := range map[string]string{"PutItem": "", "DeleteItem": "", "Query": "index: "} {
		for code, message := range map[string]string{
			"AccessDeniedException":     "refused by a test",
			"InvalidSignatureException": "the signature is wrong or has expired",
		} {
			proxy.Fail(operation, dynamolocal.Refuse(400, code))
			if err := dynamo.Probe(t.Context(), client, table); fmt.Sprint(err) != prefix+code+": "+message {
				t.Errorf("%s answers %s: %v", operation, code, err)
			}
		}
	}
}

// Probes repeat a request that is throttled.
func TestProbeThrottled(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	for _, operation := range []string{"PutItem", "DeleteItem", "Query"} {
		proxy.Fail(operation, dynamolocal.Throttle)
		if err := dynamo.Probe(t.Context(), client, table); err != nil {
			t.Errorf("Probe, %s: %v", operation, err)
		}
	}
	proxy.Fail("Query", dynamolocal.Throttle)
	if err := dynamo.ProbeIndex(t.Context(), client, table); err != nil {
		t.Errorf("ProbeIndex: %v", err)
	}
}

// Concurrent calls create the table, which is ready then. Another one changes no
// plant, not even one with the id that Probe uses.
func TestEnsureTable(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.TableName(t)
	store := dynamo.New(client, table)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := errors.Join(dynamo.EnsureTable(t.Context(), client, table), list.call(t.Context(), store)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	put(t, store, "alice", plants.Plant{ID: 0})
	if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
		t.Error(err)
	}
	wantPlants(t, store, plants.Plant{ID: 0})
}

// If the table can't be created, the error names it. A lost response is no failure.
func TestEnsureTableFails(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.TableName(t)
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)
	proxy.Fail("CreateTable", dynamolocal.Refuse(400, "AccessDeniedException"), dynamolocal.After(dynamolocal.Cut))
	if err := dynamo.EnsureTable(t.Context(), client, table); err == nil ||
		!strings.HasPrefix(err.Error(), `create the table "`+table+`": `) || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("got %v, want an error that names the table and the reason", err)
	}
	if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
		t.Errorf("after a lost response: %v", err)
	}
}
