package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Probe returns an error unless the table and its index have the keys and the
// projection of [TableInput], and the program may use all [TableActions] and
// [IndexActions] on them. It costs two write units and half a read unit.
//
// It changes nothing: its writes have a condition that no plant meets.
// DescribeTable would show the whole schema, but needs another permission, and
// doesn't show whether the program has these.
//
// The text of the error contains no credentials. It begins with "index" if the fault is
// the index's.
func Probe(ctx context.Context, client *Client, table string) error {
	plant := item{attrID: number(0)}
	never := aws.String("attribute_exists(no_such_attribute)")
	_, _, err := send(ctx, client, (*dynamodb.Client).PutItem, &dynamodb.PutItemInput{
		TableName: &table, Item: plant, ConditionExpression: never,
	})
	if err := client.probed(ctx, err); err != nil {
		return err
	}
	_, _, err = send(ctx, client, (*dynamodb.Client).DeleteItem, &dynamodb.DeleteItemInput{
		TableName: &table, Key: plant, ConditionExpression: never,
	})
	if err := client.probed(ctx, err); err != nil {
		return err
	}
	return ProbeIndex(ctx, client, table)
}

// ProbeIndex is the part of [Probe] about the index. It costs half a read unit.
func ProbeIndex(ctx context.Context, client *Client, table string) error {
	_, _, err := send(ctx, client, (*dynamodb.Client).Query, &dynamodb.QueryInput{
		TableName:                 &table,
		IndexName:                 aws.String(OwnerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner AND id > :id"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: item{":owner": text("nobody"), ":id": number(0)},
		Select:                    types.SelectAllAttributes, // fails unless the index projects all
		Limit:                     aws.Int32(1),
	})
	if err := client.probed(ctx, err); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// probed returns nil for a failed condition, since the request was valid and
// allowed. Of DynamoDB's final errors it keeps only the code and the message.
func (c *Client) probed(ctx context.Context, err error) error {
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return nil
	}
	err = c.storeError(ctx, err)
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("%s: %s", e.ErrorCode(), e.ErrorMessage())
	}
	return err
}
