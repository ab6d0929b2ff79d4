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
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	for want, change := range map[string]func(*dynamodb.CreateTableInput){
		"the key is id S HASH, not id N HASH": func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions[0].AttributeType = types.ScalarAttributeTypeS
		},
		"index owner-index is missing": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].IndexName = aws.String("by-owner")
		},
		"the key of index owner-index is owner S HASH, not owner S HASH, id N RANGE": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].KeySchema = in.GlobalSecondaryIndexes[0].KeySchema[:1]
		},
		"index owner-index projects INCLUDE, not ALL": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection = &types.Projection{
				ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"name", "tag"},
			}
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			client, table := newTableName(t)
			in := dynamo.TableInput(table)
			change(in)
			if _, err := client.CreateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			err := dynamo.EnsureTable(t.Context(), client, table)
			if err == nil || !strings.Contains(err.Error(), `table "`+table+`": `+want+":") {
				t.Errorf("got %v, want %q", err, want)
			}
		})
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
}
