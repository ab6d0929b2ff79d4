package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"example.com/plantstore/internal/plants"
)

// nobody is an owner that can't exist: the longest subject has 255 bytes.
var nobody = strings.Repeat("x", 256)

// CheckTable returns an error unless the table has the key of [TableInput], and
// the program may use all [Actions] on it, each of which costs a unit.
//
// It makes each request of the store, a write on the condition that the plant is
// nobody's, so it changes nothing. DescribeTable would show the whole schema, but
// needs another permission, and doesn't show whether the program has these.
//
// The text of the error contains no credentials.
func (s *Store) CheckTable(ctx context.Context) error {
	condition := aws.String("#owner = :nobody")
	names := map[string]string{"#owner": attrOwner} // a reserved word
	values := item{":nobody": str(nobody)}
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &s.table,
		Item:                      encode(nobody, plants.Plant{Name: "check"}, "check", time.Now()),
		ConditionExpression:       condition,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	})
	if err := checked(ctx, err); err != nil {
		return err
	}
	_, err = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       item{attrID: number(0)},
		ConditionExpression:       condition,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	})
	return checked(ctx, err)
}

// CheckIndex returns an error unless the index has the key and the projection of
// [TableInput], and the program may query it. It costs half a read unit.
//
// The text of the error contains no credentials.
func (s *Store) CheckIndex(ctx context.Context) error {
	_, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(ownerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner AND id > :id"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: item{":owner": str(nobody), ":id": number(0)},
		Select:                    types.SelectAllAttributes, // fails unless the index projects all
		Limit:                     aws.Int32(1),
	})
	return checked(ctx, err)
}

// checked returns nil for a failed condition, since the request was valid and
// allowed. Of other answers it keeps the code and the message.
func checked(ctx context.Context, err error) error {
	err = new(attempts).failure(ctx, err)
	answer, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
		return err
	case answer.ErrorCode() == "ConditionalCheckFailedException":
		return nil
	}
	return fmt.Errorf("%s: %s", answer.ErrorCode(), answer.ErrorMessage())
}
