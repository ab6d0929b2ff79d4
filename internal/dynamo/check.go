package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// nobody is an owner that can't exist: the longest subject has 255 bytes.
var nobody = strings.Repeat("x", 256)

// Check returns an error unless the table and its index have the keys and the
// projection of [TableInput], and the program may use all [TableActions] and
// [IndexActions] on them. It costs two write units and half a read unit.
//
// It changes nothing: it writes and deletes on the condition that the record is
// nobody's. DescribeTable would show the whole schema, but needs another permission,
// and doesn't show whether the program has these.
//
// The text of the error contains no credentials.
func Check(ctx context.Context, client *dynamodb.Client, table string) error {
	condition := aws.String("#owner = :nobody")
	names := map[string]string{"#owner": attrOwner} // a reserved word
	values := item{":nobody": str(nobody)}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &table,
		Item:                      item{attrID: number(0), attrOwner: str(nobody)},
		ConditionExpression:       condition,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	})
	if err := checked(ctx, err); err != nil {
		return err
	}
	_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &table,
		Key:                       item{attrID: number(0)},
		ConditionExpression:       condition,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	})
	if err := checked(ctx, err); err != nil {
		return err
	}
	return CheckIndex(ctx, client, table)
}

// CheckIndex is the part of [Check] about the index. It costs half a read unit.
func CheckIndex(ctx context.Context, client *dynamodb.Client, table string) error {
	_, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &table,
		IndexName:                 aws.String(OwnerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner AND id > :id"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: item{":owner": str(nobody), ":id": number(0)},
		Select:                    types.SelectAllAttributes, // fails unless the index projects all
		Limit:                     aws.Int32(1),
	})
	return checked(ctx, err)
}

// checked returns nil for a failed condition, since the request was valid and
// allowed. Of other errors from DynamoDB it keeps the code and the message.
func checked(ctx context.Context, err error) error {
	err = new(attempts).failure(ctx, err)
	e, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
		return err
	case e.ErrorCode() == "ConditionalCheckFailedException":
		return nil
	}
	return fmt.Errorf("%s: %s", e.ErrorCode(), e.ErrorMessage())
}
