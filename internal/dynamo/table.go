package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// OwnerIndex is the name of the table's index, which lists use.
const OwnerIndex = "owner-index"

// Actions has the IAM actions that this package needs on the table, under "", and on its index, under the
// index's name. A test compares them with TablePolicy in template.yaml.
var Actions = map[string][]string{
	"":         {"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem"},
	OwnerIndex: {"dynamodb:Query"},
}

// TableInput returns the request that creates the table of a [Store]. It is the
// only definition of the schema in the program.
//
// The index projects all attributes, because a projection can't be changed: a
// new field would need a new index.
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
			IndexName: aws.String(OwnerIndex),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(attrOwner), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(attrID), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
}

// EnsureTable creates the store's table on DynamoDB Local, unless it exists. That takes
// milliseconds, and several processes may do it concurrently. On AWS the table is part of
// the deployment.
func (s *Store) EnsureTable(ctx context.Context) error {
	_, err := s.client.CreateTable(ctx, TableInput(s.table))
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return fmt.Errorf("creating the table %q: %w", s.table, s.storeError(ctx, err))
	}
	// Substitutes for DynamoDB Local take a moment longer, as AWS does.
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &s.table}, time.Minute); err != nil {
		return fmt.Errorf("waiting for the table %q: %w", s.table, s.storeError(ctx, err))
	}
	return nil
}
