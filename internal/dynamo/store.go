// Package dynamo implements [plants.Store] on Amazon DynamoDB.
//
// The partition key of the table is the plant's id, so an id is in use at most
// once among all owners. Lists query the index owner-index, whose keys are owner
// and id, so a page costs the same however large the table is. There are no
// scans. [TableInput] defines the schema of the table.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// A Store keeps plants in a DynamoDB table, which any number of processes may share.
//
// List may lag, as [plants.Store] allows: a DynamoDB index is eventually
// consistent, usually within a fraction of a second.
//
// The client retries requests that fail or get no response. An attempt that got no
// response may take effect late: after a later attempt of the same call, and even after
// the call has returned. For example, the first attempt of a Create gets no response, the second
// finds the id in use, and Create returns ErrInUse. Then another call deletes the plant with that
// id, and the first attempt stores its own. A late Delete does nothing, unless the plant that it
// has read is still there.
type Store struct {
	client *dynamodb.Client
	table  string
}

// New returns the store in the given table, which must have the schema of [TableInput].
// The client comes from [NewClient].
func New(client *dynamodb.Client, table string) *Store { return &Store{client, table} }

// Create implements [plants.Store]. It sends one PutItem, which costs one write unit
// per KB of the plant for the table, and the same for the index.
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant) error {
	it, err := attributevalue.MarshalMap(item{Plant: p, Owner: owner, CreatedAt: timestamp(time.Now())})
	if err != nil {
		return err
	}
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           &s.table,
		Item:                it,
		ConditionExpression: aws.String("attribute_not_exists(id)"),
		// The existing plant shows whether this is a retry.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if conflict, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return s.conflict(conflict.Item, owner, p)
	}
	return s.storeError(ctx, err)
}

// conflict returns the result of the Create of p when the item old has p's id: nil if old is this very
// plant.
func (s *Store) conflict(old attributes, owner string, p plants.Plant) error {
	if old == nil {
		return errors.New("the id is in use, but DynamoDB didn't return its plant: DynamoDB Local does from version 2.2 on")
	}
	var stored item
	if err := s.decode(old, &stored); err != nil {
		return err
	}
	switch {
	case stored.Owner != owner:
		return plants.ErrInUse
	case !stored.Equal(p):
		return plants.ErrExists
	}
	return nil
}

// Delete implements [plants.Store]. It reads the plant, which costs one read unit per 4 KB,
// and sends one DeleteItem, which costs as much as the Create did.
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	stored, err := s.read(ctx, owner, id)
	if err != nil {
		return err
	}
	if stored.CreatedAt == "" { // then the condition below can't be true
		return fmt.Errorf("the item with id %d of table %q has no created_at; fix or remove it", id, s.table)
	}
	_, err = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table,
		Key:       attributes{attrID: number(id)},
		// Exactly the plant that was read: a late attempt mustn't delete a newer one.
		ConditionExpression:       aws.String("#owner = :owner AND created_at = :created_at"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: attributes{":owner": text(owner), ":created_at": text(stored.CreatedAt)},
	})
	if _, gone := errors.AsType[*types.ConditionalCheckFailedException](err); gone {
		return nil // an earlier attempt or a concurrent call has deleted it
	}
	return s.storeError(ctx, err)
}

// read returns the item of owner's plant with the given id, or ErrNotFound.
func (s *Store) read(ctx context.Context, owner string, id int64) (stored item, err error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &s.table,
		Key:            attributes{attrID: number(id)},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return stored, s.storeError(ctx, err)
	}
	if err := s.decode(out.Item, &stored); err != nil {
		return stored, err
	}
	if stored.Owner != owner { // "" if there is no plant
		return stored, plants.ErrNotFound
	}
	return stored, nil
}

// List implements [plants.Store]. It sends one Query to the index, which DynamoDB ends after
// 1 MB. A Query costs half a read unit per 4 KB of what it reads: the page, and the next item,
// if any, which shows that there are more plants.
func (s *Store) List(ctx context.Context, owner string, after *int64, limit int) (
	page []plants.Plant, more bool, err error,
) {
	in := s.query(owner, after)
	in.Limit = aws.Int32(int32(min(limit, math.MaxInt32-1) + 1))
	out, err := s.client.Query(ctx, in)
	if err != nil {
		return nil, false, s.storeError(ctx, err)
	}
	more = len(out.Items) > limit || len(out.LastEvaluatedKey) > 0
	for _, it := range out.Items[:min(limit, len(out.Items))] {
		var p plants.Plant
		if err := s.decode(it, &p); err != nil {
			return nil, false, err
		}
		page = append(page, p)
	}
	return page, more, nil
}

// Ping connects to DynamoDB and returns an error unless the store can list plants. It costs
// half a read unit.
func (s *Store) Ping(ctx context.Context) error {
	_, _, err := s.List(ctx, "nobody", nil, 1) // the owner doesn't matter
	return err
}

// query returns the request for owner's plants after the given id. A condition on the key
// sets the start, since ExclusiveStartKey is documented only for keys that DynamoDB has
// returned.
func (s *Store) query(owner string, after *int64) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(OwnerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: attributes{":owner": text(owner)},
	}
	if after != nil {
		in.KeyConditionExpression = aws.String("#owner = :owner AND id > :after")
		in.ExpressionAttributeValues[":after"] = number(*after)
	}
	return in
}
