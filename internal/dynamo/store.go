// Package dynamo implements [plants.Store] on Amazon DynamoDB.
//
// The partition key of the table is the plant's id, so an id is in use at most
// once among all owners. Lists are queries of the index owner-index, whose keys
// are owner and id: a page costs the same however large the table is. There are
// no scans. [TableInput] has the whole schema, [Actions] the permissions.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// Actions are the IAM actions that the program needs, sorted, by the resource that
// it uses them on: a table in template.yaml, or an index of one. TablePolicy in
// template.yaml grants them.
var Actions = map[string][]string{
	"PlantTable": {
		"dynamodb:DeleteItem",
		"dynamodb:PutItem",
	},
	"PlantTable/index/" + ownerIndex: {
		"dynamodb:Query",
	},
}

// A Store keeps plants in a DynamoDB table, which any number of processes may
// share.
//
// List may lag, as [plants.Store] allows: a DynamoDB index is eventually
// consistent, usually within a fraction of a second.
//
// The client retries requests that fail or get no answer. The store can't tell
// the effect of an unanswered attempt from that of a concurrent request for the
// same plant. So of two concurrent Deletes both may return nil, and a plant that
// was created and deleted at the same time may be created again.
//
// DynamoDB may carry out an unanswered attempt late, after the call has returned.
// A late Delete doesn't delete plants whose Create began after it. If the clocks of
// the two machines differ by d, it may delete one whose Create began less than d
// later. A late Create re-creates a plant that was deleted meanwhile; to prevent
// that, each Delete would have to leave a record.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ plants.Store = (*Store)(nil)

// New returns the store in the given table, which must have the schema of
// [TableInput]. The client must be one of [NewClient], since others retry too
// slowly for a server.
func New(client *dynamodb.Client, table string) *Store {
	return &Store{client: client, table: table}
}

// Create implements [plants.Store]. It is one PutItem, which costs a write unit
// per KB of the plant in the table, and the same in the index.
func (s *Store) Create(ctx context.Context, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	var a attempts
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           &s.table,
		Item:                encode(owner, p, key, time.Now()),
		ConditionExpression: aws.String("attribute_not_exists(id)"),
		// The existing plant shows whether an earlier attempt created it.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, a.watch)

	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return s.existing(failed.Item, owner, p, key)
	}
	return a.failure(ctx, err)
}

// existing returns the result of the Create of p if its id belongs to old.
func (s *Store) existing(old item, owner string, p plants.Plant, key plants.IdempotencyKey) error {
	oldOwner, _ := text(old, attrOwner)
	oldKey, _ := text(old, attrIdempotencyKey)
	if oldOwner != owner || oldKey != string(key) {
		return plants.ErrInUse
	}
	q, err := decode(old)
	if err != nil {
		return s.malformed(old, err)
	}
	if !p.Same(q) {
		return plants.ErrKeyReused
	}
	return nil
}

// Delete implements [plants.Store]. It is one DeleteItem, which costs as much as
// the Create did. It is two if the plant seems to be newer than the call, because
// its creator's clock is ahead.
func (s *Store) Delete(ctx context.Context, owner string, id int64) error {
	newest := timestamp(time.Now())
	for {
		var a attempts
		_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &s.table,
			Key:       item{attrID: number(id)},
			// The time protects newer plants from a late attempt.
			ConditionExpression:       aws.String("#owner = :caller AND created_at <= :newest"),
			ExpressionAttributeNames:  map[string]string{"#owner": attrOwner}, // a reserved word
			ExpressionAttributeValues: item{":caller": str(owner), ":newest": str(newest)},
			// Shows which part of the condition failed.
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, a.watch)
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok {
			return a.failure(ctx, err)
		}
		oldOwner, _ := text(failed.Item, attrOwner)
		switch {
		case len(failed.Item) == 0 && a.unclear:
			return nil // an earlier attempt has probably deleted it
		case oldOwner != owner:
			return plants.ErrNotFound
		case a.unclear: // an earlier attempt may have deleted the plant that this one replaced
			return fmt.Errorf("%w: the plant is newer than an unanswered attempt to delete it", plants.ErrUnreachable)
		}
		// The plant exists during the call, so the call may delete it.
		if newest, err = text(failed.Item, attrCreatedAt); err != nil {
			return s.malformed(failed.Item, err)
		}
	}
}

// List implements [plants.Store]. It is one Query of the index, which costs
// half a read unit per 4 KB of its page. DynamoDB ends a page at 1 MB.
func (s *Store) List(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	var a attempts
	out, err := s.client.Query(ctx, s.query(owner, q), a.watch)
	if err != nil {
		return plants.Page{}, a.failure(ctx, err)
	}
	page := plants.Page{Plants: make([]plants.Plant, len(out.Items))}
	for i, it := range out.Items {
		if page.Plants[i], err = decode(it); err != nil {
			return plants.Page{}, s.malformed(it, err)
		}
	}
	if key := out.LastEvaluatedKey; len(key) > 0 {
		next, err := integer(key, attrID)
		if err != nil {
			return plants.Page{}, s.malformed(key, err)
		}
		page.Next = &next
	}
	return page, nil
}

// query returns the request for a page. It starts after q.After by a condition on
// the key, since an ExclusiveStartKey would also need the keys of the table.
func (s *Store) query(owner string, q plants.Query) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(ownerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeValues: item{":owner": str(owner)},
		Limit:                     aws.Int32(int32(min(q.Limit, math.MaxInt32))),
		// Placeholders, since some of the names are reserved words.
		ProjectionExpression:     aws.String("#" + strings.Join(plantAttributes, ", #")),
		ExpressionAttributeNames: map[string]string{"#owner": attrOwner},
	}
	for _, name := range plantAttributes {
		in.ExpressionAttributeNames["#"+name] = name
	}
	if q.After != nil {
		in.KeyConditionExpression = aws.String("#owner = :owner AND #id > :after")
		in.ExpressionAttributeValues[":after"] = number(*q.After)
	}
	return in
}

// malformed returns the error for an item that no Create has written.
func (s *Store) malformed(it item, err error) error {
	id := "(unknown)"
	if n, ok := it[attrID].(*types.AttributeValueMemberN); ok {
		id = n.Value
	}
	return fmt.Errorf("table %q has a malformed item with id %s: %w; fix or remove it", s.table, id, err)
}
