package dynamo_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/test/dynamolocal"
)

// newTableName returns the name of a table that doesn't exist, and deletes the
// table when the test ends.
func newTableName(t *testing.T) (client *dynamodb.Client, name string) {
	t.Helper()
	client = dynamolocal.Client(t, dynamolocal.Endpoint(t))
	name = "test-" + rand.Text()
	t.Cleanup(func() {
		client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name})
	})
	return client, name
}

func TestEnsureTableConcurrently(t *testing.T) {
	t.Parallel()
	client, table := newTableName(t)
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

func TestEnsureTableAnswerLost(t *testing.T) {
	t.Parallel()
	direct, table := newTableName(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	proxy.Fail("CreateTable", dynamolocal.After(dynamolocal.Cut))
	if err := dynamo.EnsureTable(t.Context(), dynamolocal.Client(t, proxy.URL), table); err != nil {
		t.Error(err)
	}
}

func TestEnsureTableOtherSchema(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*dynamodb.CreateTableInput){
		func(in *dynamodb.CreateTableInput) { in.KeySchema = key("id", "owner") },
		func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].IndexName = aws.String("by-owner") },
	} {
		client, table := newTableName(t)
		in := dynamo.TableInput(table)
		change(in)
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		err := dynamo.EnsureTable(t.Context(), client, table)
		if err == nil || !strings.HasPrefix(err.Error(), `table "`+table+`": ValidationException: `) {
			t.Errorf("got %v, want the table's name and DynamoDB's reason", err)
		}
	}
}

// If the table vanishes, a call says what to do: the next start creates it again.
func TestMissingTable(t *testing.T) {
	t.Parallel()
	client, table := newTableName(t)
	for range 2 {
		if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
			t.Fatal(err)
		}
		store := dynamo.New(client, table)
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
			t.Fatal(err)
		}
		if err := store.Delete(t.Context(), "alice", 1); err == nil || !strings.Contains(err.Error(), "restart the server") {
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

func TestEnsureTableFaults(t *testing.T) {
	t.Parallel()
	_, table := newTableName(t)
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
