// Package dynamo implements [records.Store] on Amazon DynamoDB.
//
// The partition key of a table is the record's id, so an id is in use at most
// once among all owners. Lists are queries of the index owner-index, whose keys
// are owner and id: a page costs the same however large the table is. There are
// no scans. [TableInput] has the schema of every table.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/records"
)

// A Store keeps the records of one resource in a DynamoDB table, which any number of
// processes may share.
//
// List may lag, as [records.Store] allows: a DynamoDB index is eventually
// consistent, usually within a fraction of a second.
//
// The client retries requests that fail or get no response. DynamoDB may carry out
// such an attempt late: after a later attempt of the same call, and even after the
// call has returned nil. A late Create stores the record if its id is free then, for
// example because another call has deleted the record. A late Delete spares records
// whose created_at is later than the call, as far as the machines' clocks agree.
//
// After an attempt without a response, a Delete that finds no record returns nil,
// even if a concurrent call deleted it or it never existed.
type Store[T any] struct {
	client     *Client
	table      string
	fields     []string          // the names of T's fields in JSON, in their order
	projection string            // of lists: the attributes that decode reads
	names      map[string]string // the attributes of the placeholders in queries
}

// New returns the store in the given table, which must have the schema of
// [TableInput].
//
// It panics if a field has the name of an attribute that the store adds.
func New[T any](client *Client, table string) *Store[T] {
	s := &Store[T]{client: client, table: table, projection: "id", names: map[string]string{"#owner": attrOwner}}
	for field := range reflect.TypeFor[T]().Fields() {
		name, _ := records.ParseTag(field.Tag)
		switch name {
		case attrID, attrOwner, attrCreatedAt, attrWriteToken:
			panic(fmt.Sprintf("dynamo: the store adds the attribute %q itself: rename the field of %T", name, *new(T)))
		}
		// A placeholder, since the name may be a reserved word.
		placeholder := fmt.Sprint("#f", len(s.fields))
		s.fields = append(s.fields, name)
		s.names[placeholder] = name
		s.projection += ", " + placeholder
	}
	return s
}

// Create implements [records.Store]. It is one PutItem, which costs a write unit
// per KB of the record in the table, and the same in the index.
func (s *Store[T]) Create(ctx context.Context, owner string, r records.Record[T], token records.WriteToken) error {
	it, err := s.encode(owner, r, token)
	if err != nil {
		return err
	}
	_, unclear, err := send(ctx, s.client, (*dynamodb.Client).PutItem, &dynamodb.PutItemInput{
		TableName:           &s.table,
		Item:                it,
		ConditionExpression: aws.String("attribute_not_exists(id)"),
		// The existing record shows whether an earlier attempt created it.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})

	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		// An earlier attempt may have created a record that was deleted since. Then the id
		// isn't simply in use.
		return ifClear(unclear, s.existing(failed.Item, owner, r, token))
	}
	return s.client.storeError(ctx, err)
}

// existing returns the result of the Create of r if old has its id already.
func (s *Store[T]) existing(old item, owner string, r records.Record[T], token records.WriteToken) error {
	oldOwner, _ := text(old, attrOwner)
	oldToken, _ := text(old, attrWriteToken)
	if oldOwner != owner || oldToken != string(token) {
		return records.ErrInUse
	}
	var stored records.Record[T]
	if err := s.decode(old, &stored); err != nil {
		return err
	}
	if !reflect.DeepEqual(stored.Fields, r.Fields) {
		return records.ErrWriteTokenReused
	}
	return nil
}

// Delete implements [records.Store]. It is one DeleteItem, which costs as much as
// the Create did. It is two if the record seems to be newer than the call, because
// its creator's clock is ahead.
func (s *Store[T]) Delete(ctx context.Context, owner string, id int64) error {
	newest := timestamp(time.Now())
	for {
		_, unclear, err := send(ctx, s.client, (*dynamodb.Client).DeleteItem, s.deletion(owner, id, newest))
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok {
			return s.client.storeError(ctx, err)
		}
		if unclear != nil {
			if len(failed.Item) == 0 {
				return nil // an earlier attempt has probably deleted the record
			}
			// An earlier attempt may have deleted a record, and this one was created since.
			// Or nothing was deleted. The caller has to repeat the call to find out.
			return ifClear(unclear, err)
		}
		oldOwner, _ := text(failed.Item, attrOwner) // "" if there is no record
		if oldOwner != owner {
			return records.ErrNotFound
		}
		// This is owner's record, and newer than newest. It exists during the call, so
		// the call may delete it. Only a still newer record makes a third round.
		if newest, err = text(failed.Item, attrCreatedAt); err != nil {
			return s.malformed(failed.Item, err)
		}
	}
}

// deletion returns the request to delete owner's record with the given id, unless it
// is newer than newest: this protects newer records from a late attempt.
func (s *Store[T]) deletion(owner string, id int64, newest string) *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       item{attrID: number(id)},
		ConditionExpression:       aws.String("#owner = :owner AND created_at <= :newest"),
		ExpressionAttributeNames:  map[string]string{"#owner": attrOwner},
		ExpressionAttributeValues: item{":owner": str(owner), ":newest": str(newest)},
		// Shows which part of the condition failed.
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// List implements [records.Store]. It is one Query of the index, which costs
// half a read unit per 4 KB of its page. DynamoDB ends a page at 1 MB.
func (s *Store[T]) List(ctx context.Context, owner string, q records.Query) (records.Page[T], error) {
	out, _, err := send(ctx, s.client, (*dynamodb.Client).Query, s.query(owner, q))
	if err != nil {
		return records.Page[T]{}, s.client.storeError(ctx, err)
	}
	page := records.Page[T]{Records: make([]records.Record[T], len(out.Items))}
	for i, it := range out.Items {
		if err := s.decode(it, &page.Records[i]); err != nil {
			return records.Page[T]{}, err
		}
	}
	if key := out.LastEvaluatedKey; len(key) > 0 {
		next, err := integer(key, attrID)
		if err != nil {
			return records.Page[T]{}, s.malformed(key, err)
		}
		page.Next = &next
	}
	return page, nil
}

// query returns the request for a page. It starts after q.After by a condition on the
// key. ExclusiveStartKey is documented only for keys that DynamoDB has returned, and
// q.After may be any id.
func (s *Store[T]) query(owner string, q records.Query) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(OwnerIndex),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeValues: item{":owner": str(owner)},
		Limit:                     aws.Int32(int32(min(q.Limit, math.MaxInt32))),
		ProjectionExpression:      &s.projection,
		ExpressionAttributeNames:  s.names,
	}
	if q.After != nil {
		in.KeyConditionExpression = aws.String("#owner = :owner AND id > :after")
		in.ExpressionAttributeValues[":after"] = number(*q.After)
	}
	return in
}

// malformed returns the error for an item that no Create has written.
func (s *Store[T]) malformed(it item, err error) error {
	id := "(unknown)"
	if n, ok := it[attrID].(*types.AttributeValueMemberN); ok {
		id = n.Value
	}
	return fmt.Errorf("table %q has a malformed item with id %s: %w; fix or remove it", s.table, id, err)
}
