package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

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
func (l localStore) Create(ctx context.Context, owner string, p plants.Plant, token plants.WriteToken) error {
	return l.do(ctx, func() error { return l.Store.Create(ctx, owner, p, token) })
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
