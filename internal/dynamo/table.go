package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

const ownerIndex = "owner-index"

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
			IndexName: aws.String(ownerIndex),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(attrOwner), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(attrID), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
}

// EnsureTable creates the table with the given name on DynamoDB Local if there is
// none, and waits until it is ready. Several processes may do so concurrently. It
// changes no existing table, and returns an error if the store can't use it. On
// AWS the table is part of the deployment.
func EnsureTable(ctx context.Context, client *dynamodb.Client, name string) error {
	if err := ensureTable(ctx, client, name); err != nil {
		return fmt.Errorf("table %q: %w", name, err)
	}
	return nil
}

func ensureTable(ctx context.Context, client *dynamodb.Client, name string) error {
	var a attempts
	describe := &dynamodb.DescribeTableInput{TableName: &name}
	_, err := client.DescribeTable(ctx, describe, a.watch)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		_, err = client.CreateTable(ctx, TableInput(name), a.watch)
		if _, exists := errors.AsType[*types.ResourceInUseException](err); exists {
			err = nil // created by another process, or by an unanswered attempt
		}
	}
	if err != nil {
		return a.failure(ctx, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, describe, time.Minute); err != nil {
		return a.failure(ctx, err)
	}
	s := New(client, name)
	err = s.CheckTable(ctx)
	if err == nil {
		err = s.CheckIndex(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: if it has another schema, use a table with another name, or delete this one", err)
	}
	return nil
}

// Open returns the store in the given table, like [New]. On DynamoDB Local it
// creates the table if it is missing, and the store creates it again after a
// restart of a DynamoDB Local that keeps its tables in memory. On AWS, Open sends
// no request.
func Open(ctx context.Context, client *dynamodb.Client, table string) (plants.Store, error) {
	s := New(client, table)
	if !isLocal(client.Options().BaseEndpoint) {
		return s, nil
	}
	return localStore{s}, EnsureTable(ctx, client, table)
}

// A localStore is a [Store] that creates its table if it is missing.
type localStore struct{ *Store }

// Create implements [plants.Store].
func (l localStore) Create(ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	return l.do(ctx, func() error { return l.Store.Create(ctx, owner, p, key) })
}

// Delete implements [plants.Store].
func (l localStore) Delete(ctx context.Context, owner string, id int64) error {
	return l.do(ctx, func() error { return l.Store.Delete(ctx, owner, id) })
}

// List implements [plants.Store].
func (l localStore) List(ctx context.Context, owner string, q plants.Query) (page plants.Page, err error) {
	err = l.do(ctx, func() error {
		page, err = l.Store.List(ctx, owner, q)
		return err
	})
	return page, err
}

// do makes a call. If the table is missing, it creates the table and repeats the
// call.
func (l localStore) do(ctx context.Context, call func() error) error {
	err := call()
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); !missing {
		return err
	}
	if err := EnsureTable(ctx, l.client, l.table); err != nil {
		return err
	}
	return call()
}
