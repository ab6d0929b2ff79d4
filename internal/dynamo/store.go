// Package dynamo is the store on Amazon DynamoDB.
//
// The table's partition key is the plant's id, so that an id is in use once
// among all owners. The index owner-index, by owner and id, is what lists are
// read from: a page costs what the page holds, however large the table is.
// Nothing scans. [TableInput] has the whole schema.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// A Store keeps plants in one DynamoDB table, which any number of processes
// may share.
//
// Its List lags, as [plants.Store] allows: an index of DynamoDB is eventually
// consistent, usually within a fraction of a second.
//
// It repeats requests that failed or went unanswered. What another request did
// to the same plant between the two can't be told from what the first did: two
// Deletes at one time may both return nil, and a plant that was created and
// deleted may be created once more.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ plants.Store = (*Store)(nil)

// New returns the store in the given table, which must have the schema of
// [TableInput]. The client is to come from [NewClient]: the SDK's own settings
// retry too slowly for a server.
func New(client *dynamodb.Client, table string) *Store {
	return &Store{client: client, table: table}
}

// Create implements [plants.Store]. It is one PutItem, of 1 write unit for each
// KB of the plant in the table, and the same in the index.
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	var a attempts
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           &s.table,
		Item:                newItem(owner, p, token, time.Now()),
		ConditionExpression: aws.String("attribute_not_exists(id)"),
		// The plant that is in the way tells whether an earlier attempt put it
		// there.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, a.watch)

	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return s.occupied(failed.Item, owner, p, token)
	}
	return a.failure(ctx, err)
}

// occupied returns the result of the Create of p when old has its id.
func (s *Store) occupied(old item, owner string, p plants.Plant, token plants.WriteToken) error {
	oldOwner, err := text(old, attrOwner)
	if err != nil {
		return s.malformed(strconv.FormatInt(p.ID, 10), err)
	}
	oldToken, err := text(old, attrWriteToken)
	if err != nil {
		return s.malformed(strconv.FormatInt(p.ID, 10), err)
	}
	if oldOwner != owner || oldToken != string(token) {
		return plants.ErrInUse
	}
	q, err := plant(old)
	if err != nil {
		return s.malformed(strconv.FormatInt(p.ID, 10), err)
	}
	if !p.Same(q) {
		return plants.ErrTokenReused
	}
	return nil
}

// Delete implements [plants.Store]. It is one DeleteItem, which costs what the
// Create did.
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	var a attempts
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       item{attrID: number(id)},
		ConditionExpression:       aws.String("#owner = :caller"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner}, // a reserved word
		ExpressionAttributeValues: item{":caller": str(owner)},
		// Tells no plant from another owner's.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, a.watch)

	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if len(failed.Item) == 0 && a.unclear {
			return nil // gone since an earlier attempt, as far as anyone can tell
		}
		return plants.ErrNotFound
	}
	return a.failure(ctx, err)
}

// List implements [plants.Store]. It is one Query of the index, of half a read
// unit for every 4 KB of its page, which DynamoDB ends at 1 MB.
func (s *Store) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	in := s.query(owner, q)
	for {
		var a attempts
		out, err := s.client.Query(ctx, in, a.watch)
		if err != nil {
			return plants.Page{}, a.failure(ctx, err)
		}
		if out.Items == nil {
			// The SDK takes an answer without a body for one without items.
			return plants.Page{}, fmt.Errorf("%w: the answer to a query is empty", plants.ErrUnreachable)
		}
		// DynamoDB may end a page before its first plant. Such a page would
		// leave the caller no id to go on after.
		if len(out.Items) == 0 && len(out.LastEvaluatedKey) > 0 {
			in.ExclusiveStartKey = out.LastEvaluatedKey
			continue
		}
		return s.page(out)
	}
}

// Warm opens the connection to DynamoDB, ahead of the first request that needs
// it, and runs the code that it will. It is a List for an owner whose name is
// longer than any may be, at the price of half a read unit.
func (s *Store) Warm(ctx context.Context) error {
	_, err := s.List(ctx, strings.Repeat("x", 256), plants.Query{Limit: 1})
	return err
}

// query returns the request for a page. The place to go on from is a condition
// on the key rather than an ExclusiveStartKey: that would have to be a whole
// key of table and index, and DynamoDB refuses one that doesn't fit.
func (s *Store) query(owner string, q plants.Query) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:              &s.table,
		IndexName:              aws.String(ownerIndex),
		KeyConditionExpression: aws.String("#owner = :owner"),
		ProjectionExpression:   aws.String("id, #name, #tag"),
		ExpressionAttributeNames: map[string]string{
			"#owner": attrOwner, "#name": attrName, "#tag": attrTag, // some are reserved words
		},
		ExpressionAttributeValues: item{":owner": str(owner)},
		Limit:                     aws.Int32(int32(min(q.Limit, math.MaxInt32))),
	}
	if q.After != nil {
		in.KeyConditionExpression = aws.String("#owner = :owner AND id > :after")
		in.ExpressionAttributeValues[":after"] = number(*q.After)
	}
	return in
}

func (s *Store) page(out *dynamodb.QueryOutput) (plants.Page, error) {
	page := plants.Page{
		Plants: make([]plants.Plant, 0, len(out.Items)),
		More:   len(out.LastEvaluatedKey) > 0,
	}
	for _, it := range out.Items {
		p, err := plant(it)
		if err != nil {
			return plants.Page{}, s.malformed(describeID(it), err)
		}
		page.Plants = append(page.Plants, p)
	}
	return page, nil
}

func (s *Store) malformed(id string, err error) error {
	return fmt.Errorf("table %q holds an item with id %s that this program did not write: %w; correct or remove it",
		s.table, id, err)
}
