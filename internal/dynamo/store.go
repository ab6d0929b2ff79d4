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
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// A Store keeps plants in a DynamoDB table, which any number of processes may share.
//
// List may lag, as [plants.Store] allows: a DynamoDB index is eventually
// consistent, usually within a fraction of a second.
//
// The client retries requests that fail or get no response. DynamoDB may carry out
// such an attempt late: after a later attempt of the same call, and even after the
// call has returned nil. A late Create stores the plant if the id is free by then,
// for example because another call has deleted the plant. A late Delete doesn't
// touch plants whose created_at is later than the call, provided that the machines'
// clocks agree.
//
// After an attempt without a response, a Delete that finds no plant returns nil,
// even if a concurrent call deleted the plant or it never existed.
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
	ctx, attempts := withAttempts(ctx)
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           &s.table,
		Item:                encode(owner, p),
		ConditionExpression: aws.String("attribute_not_exists(id)"),
		// The existing plant shows whether this is a retry.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if conflict, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		// An earlier attempt may have created the plant, which was deleted since. Then ErrInUse
		// would be wrong, since it means that this call has changed nothing.
		return attempts.ifCertain(s.existing(conflict.Item, owner, p))
	}
	return s.storeError(ctx, attempts, err)
}

// existing returns the result of the Create of p if the item old already has its id.
func (s *Store) existing(old attributes, owner string, p plants.Plant) error {
	if oldOwner, _ := getText(old, attrOwner); oldOwner != owner {
		return plants.ErrInUse
	}
	stored, err := decode(old)
	if err != nil {
		return s.malformed(old, err)
	}
	if !stored.Equal(p) {
		return plants.ErrExists
	}
	return nil
}

// Delete implements [plants.Store]. It sends one DeleteItem, which costs as much as
// the Create did. It sends two if the plant seems to be newer than the call, because
// its creator's clock is ahead.
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	newest := timestamp(time.Now())
	for { // again only if no attempt may have acted
		callCtx, attempts := withAttempts(ctx)
		_, err := s.client.DeleteItem(callCtx, s.deletion(owner, id, newest))
		conflict, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok {
			return s.storeError(callCtx, attempts, err)
		}
		if attempts.mayHaveActed != nil {
			if len(conflict.Item) == 0 {
				return nil // an earlier attempt has probably deleted the plant
			}
			// Either an earlier attempt deleted a plant, and this one was created since, or
			// nothing was deleted.
			return attempts.outcomeUnknown(err)
		}
		if oldOwner, _ := getText(conflict.Item, attrOwner); oldOwner != owner { // "" without a plant
			return plants.ErrNotFound
		}
		// This is owner's plant, and newer than newest. It exists during the call, so
		// the call may delete it. Only a still newer plant causes a third round.
		if newest, err = getText(conflict.Item, attrCreatedAt); err != nil {
			return s.malformed(conflict.Item, err)
		}
	}
}

// deletion returns the request to delete owner's plant with the given id, unless the
// plant is newer than newest. This protects newer plants from a late attempt.
func (s *Store) deletion(owner string, id int64, newest string) *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       attributes{attrID: number(id)},
		ConditionExpression:       aws.String("#owner = :owner AND created_at <= :newest"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: attributes{":owner": text(owner), ":newest": text(newest)},
		// The existing plant shows which part of the condition failed.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// List implements [plants.Store]. It sends one Query to the index for each MB, which costs
// half a read unit per 4 KB of the list.
func (s *Store) List(ctx context.Context, owner string, after *int64, limit int) (list []plants.Plant, _ error) {
	ctx, attempts := withAttempts(ctx)
	in := s.query(owner, after)
	for {
		in.Limit = aws.Int32(int32(min(limit-len(list), math.MaxInt32)))
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, s.storeError(ctx, attempts, err)
		}
		for _, it := range out.Items {
			p, err := decode(it)
			if err != nil {
				return nil, s.malformed(it, err)
			}
			list = append(list, p)
		}
		if len(list) >= limit || len(out.LastEvaluatedKey) == 0 {
			return list, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// query returns the request for owner's plants after the given id. A condition on the key
// sets the start, since ExclusiveStartKey is documented only for keys that DynamoDB has
// returned.
func (s *Store) query(owner string, after *int64) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(OwnerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ProjectionExpression:      aws.String("id, #name, #tag"), // what decode reads
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner, "#name": attrName, "#tag": attrTag},
		ExpressionAttributeValues: attributes{":owner": text(owner)},
	}
	if after != nil {
		in.KeyConditionExpression = aws.String("#owner = :owner AND id > :after")
		in.ExpressionAttributeValues[":after"] = number(*after)
	}
	return in
}

// malformed returns the error for an item that Create can't have written.
func (s *Store) malformed(it attributes, err error) error {
	id := "(unknown)"
	if n, ok := it[attrID].(*types.AttributeValueMemberN); ok {
		id = n.Value
	}
	return fmt.Errorf("table %q has a malformed item with id %s: %w; fix or remove it", s.table, id, err)
}
