package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

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
