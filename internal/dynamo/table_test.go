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

func TestEnsureTableAtOnce(t *testing.T) {
	t.Parallel()
	client := dynamolocal.Client(t, dynamolocal.Endpoint(t))
	table := "test-" + rand.Text()
	t.Cleanup(func() {
		client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table})
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
				t.Error(err)
				return
			}
			// It is ready when EnsureTable says so, whoever made it.
			if err := list.call(t.Context(), dynamo.New(client, table)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestEnsureTableAnswerLost(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	proxy.Fail("CreateTable", dynamolocal.Lose)
	client := dynamolocal.Client(t, proxy.URL)
	table := "test-" + rand.Text()
	t.Cleanup(func() {
		client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table})
	})
	if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
		t.Error(err)
	}
}

// A table that holds plants already is left as it is.
func TestEnsureTableExists(t *testing.T) {
	t.Parallel()
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	if err := create.call(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if err := dynamo.EnsureTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	wantPlants(t, store, fern)
}

func TestEnsureTableOfOthers(t *testing.T) {
	for name, change := range map[string]func(*dynamodb.CreateTableInput){
		"no index": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes = nil
			in.AttributeDefinitions = in.AttributeDefinitions[:1]
		},
		"another index": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].IndexName = aws.String("by-owner")
		},
		"index without order": func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].KeySchema = in.GlobalSecondaryIndexes[0].KeySchema[:1]
		},
		"another key": func(in *dynamodb.CreateTableInput) {
			in.KeySchema = []types.KeySchemaElement{{AttributeName: aws.String("owner"), KeyType: types.KeyTypeHash}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := dynamolocal.Client(t, dynamolocal.Endpoint(t))
			in := dynamo.TableInput("test-" + rand.Text())
			change(in)
			if _, err := client.CreateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: in.TableName})
			})
			err := dynamo.EnsureTable(t.Context(), client, *in.TableName)
			if err == nil || !strings.Contains(err.Error(), *in.TableName) || !strings.Contains(err.Error(), "other keys") {
				t.Errorf("got %v, want an error that names the table", err)
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
		t.Errorf("made %d tables without knowing that there is none", got)
	}
}
