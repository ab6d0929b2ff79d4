package dynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
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

func TestEnsureTableFails(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	client := dynamolocal.Client(t, proxy.URL)

	proxy.Fail("DescribeTable", dynamolocal.Refuse(400, "AccessDeniedException"))
	err := dynamo.EnsureTable(t.Context(), client, "some-table")
	if err == nil || !strings.Contains(err.Error(), "some-table") || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("got %v, want an error that names the table and the reason", err)
	}
	proxy.Always("DescribeTable", dynamolocal.Cut)
	if err := dynamo.EnsureTable(t.Context(), client, "some-table"); !errors.Is(err, plants.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
	if got := proxy.Count("CreateTable"); got != 0 {
		t.Errorf("%d CreateTable requests without knowing that the table is missing", got)
	}

	_, table := dynamolocal.Table(t)
	proxy.Always("DescribeTable", nil)
	proxy.Always("PutItem", dynamolocal.Cut)
	if err := dynamo.EnsureTable(t.Context(), client, table); !errors.Is(err, plants.ErrUnreachable) {
		t.Errorf("without an answer to the check: got %v, want ErrUnreachable", err)
	}
}

// DynamoDB Local loses its tables in a restart if it keeps them in memory.
func TestOpenLocal(t *testing.T) {
	t.Parallel()
	client, table := newTableName(t)
	store, err := dynamo.Open(t.Context(), client, table)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		operation
		want error
	}{{create, nil}, {list, nil}, {remove, plants.ErrNotFound}} {
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
			t.Fatal(err)
		}
		if err := test.call(t.Context(), store); !errors.Is(err, test.want) {
			t.Errorf("%s without the table: %v, want %v", test.name, err, test.want)
		}
	}
}

// On AWS the table is part of the deployment.
func TestOpenAWS(t *testing.T) {
	client := dynamolocal.Client(t, "https://127.0.0.1:1") // the scheme of AWS
	store, err := dynamo.Open(t.Context(), client, "plants")
	if _, ok := store.(*dynamo.Store); err != nil || !ok {
		t.Errorf("got %T, %v, want a plain Store and no request", store, err)
	}
}
