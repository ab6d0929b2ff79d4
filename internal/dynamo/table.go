package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const ownerIndex = "owner-index"

const tableTimeout = time.Minute // a new table takes about ten seconds on AWS

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

// EnsureTable creates the table with the given name if there is none, and waits
// until it is ready. Several processes may do so concurrently. It changes no
// existing table, and returns an error that names the difference if the schema
// isn't that of [TableInput]. EnsureTable is for DynamoDB Local: on AWS the
// table is part of the deployment.
func EnsureTable(ctx context.Context, client *dynamodb.Client, name string) error {
	if err := ensureTable(ctx, client, TableInput(name)); err != nil {
		return fmt.Errorf("table %q: %w", name, err)
	}
	return nil
}

func ensureTable(ctx context.Context, client *dynamodb.Client, in *dynamodb.CreateTableInput) error {
	var a attempts
	describe := &dynamodb.DescribeTableInput{TableName: in.TableName}
	_, err := client.DescribeTable(ctx, describe, a.watch)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		_, err = client.CreateTable(ctx, in, a.watch)
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
	out, err := waiter.WaitForOutput(ctx, describe, tableTimeout)
	if err != nil {
		return a.failure(ctx, err)
	}
	if d := difference(out.Table, in); d != "" {
		return errors.New(d + ": use a table with another name, or delete this one")
	}
	return nil
}

// difference describes the first difference between the schema of a table and
// that of the request that should have created it. It is empty if there is none.
func difference(got *types.TableDescription, want *dynamodb.CreateTableInput) string {
	wantIndex := want.GlobalSecondaryIndexes[0]
	name := *wantIndex.IndexName
	i := slices.IndexFunc(got.GlobalSecondaryIndexes, func(d types.GlobalSecondaryIndexDescription) bool {
		return *d.IndexName == name
	})
	if i < 0 {
		return "index " + name + " is missing"
	}
	gotIndex := got.GlobalSecondaryIndexes[i]
	for _, property := range []struct{ name, got, want string }{
		{"the key is", keys(got.KeySchema, got.AttributeDefinitions), keys(want.KeySchema, want.AttributeDefinitions)},
		{"the key of index " + name + " is", keys(gotIndex.KeySchema, got.AttributeDefinitions), keys(wantIndex.KeySchema, want.AttributeDefinitions)},
		{"index " + name + " projects", string(gotIndex.Projection.ProjectionType), string(wantIndex.Projection.ProjectionType)},
	} {
		if property.got != property.want {
			return fmt.Sprintf("%s %s, not %s", property.name, property.got, property.want)
		}
	}
	return ""
}

// keys describes a key with the types of its attributes: "owner S HASH, id N RANGE".
func keys(schema []types.KeySchemaElement, attributes []types.AttributeDefinition) string {
	var parts []string
	for _, key := range schema {
		for _, a := range attributes {
			if *a.AttributeName == *key.AttributeName {
				parts = append(parts, fmt.Sprintf("%s %s %s", *key.AttributeName, a.AttributeType, key.KeyType))
			}
		}
	}
	return strings.Join(parts, ", ")
}
