package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const ownerIndex = "owner-index"

// tableTimeout bounds the wait for a new table. DynamoDB Local takes
// milliseconds, DynamoDB some ten seconds.
const tableTimeout = time.Minute

// TableInput returns the request that makes the table of a [Store]. It is the
// one statement of the table's schema in the program.
func TableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(attrID), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String(attrOwner), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(attrID), KeyType: types.KeyTypeHash},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(ownerIndex),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(attrOwner), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(attrID), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{
				ProjectionType:   types.ProjectionTypeInclude,
				NonKeyAttributes: []string{attrName, attrTag},
			},
		}},
	}
}

// EnsureTable makes the table of the given name if there is none, and waits
// until it can be used. Several processes may do so at once. It refuses a table
// with keys other than ours; it changes none. It is for DynamoDB Local: on AWS
// the table is part of the deployment.
func EnsureTable(ctx context.Context, client *dynamodb.Client, name string) error {
	var a attempts
	in := TableInput(name)
	_, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name}, a.watch)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		_, err = client.CreateTable(ctx, in, a.watch)
		if _, exists := errors.AsType[*types.ResourceInUseException](err); exists {
			err = nil // someone else's, or our own earlier attempt's
		}
	}
	if err != nil {
		return fmt.Errorf("table %q: %w", name, a.failure(ctx, err))
	}

	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	})
	out, err := waiter.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableTimeout)
	if err != nil {
		return fmt.Errorf("table %q: %w", name, a.failure(ctx, err))
	}
	return checkKeys(out.Table, in)
}

// checkKeys finds a table that another program made, before every request
// fails on it.
func checkKeys(got *types.TableDescription, want *dynamodb.CreateTableInput) error {
	index := want.GlobalSecondaryIndexes[0]
	if reflect.DeepEqual(got.KeySchema, want.KeySchema) {
		for _, i := range got.GlobalSecondaryIndexes {
			if *i.IndexName == *index.IndexName && reflect.DeepEqual(i.KeySchema, index.KeySchema) {
				return nil
			}
		}
	}
	return fmt.Errorf("table %q exists with other keys or without the index %s: name another table, or delete it",
		*want.TableName, *index.IndexName)
}
