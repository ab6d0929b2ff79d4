// Package records defines what all resources share: the contract of the stores
// that keep their records.
//
// It imports nothing of HTTP or databases.
package records

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// A Record is one record of one owner, such as a plant: its id and its fields. Its
// JSON is one object with the id and the fields.
type Record[T any] struct {
	// ID identifies the record among those of all owners. Every int64 is valid.
	ID int64 `json:"id"`

	// Fields is a struct. Its json tags name the fields in requests, responses and
	// storage. With omitzero a field is optional: it is absent if it is zero. A pointer to
	// the zero time counts as zero, too.
	Fields T `json:",embed"`
}

// ParseTag returns what the tag of a field in [Record.Fields] says: the field's name in
// JSON, and whether it is optional.
func ParseTag(tag reflect.StructTag) (name string, optional bool) {
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	return name, slices.Contains(strings.Split(options, ","), "omitzero")
}

// Fields are the fields of a resource's records. They know their rules.
type Fields interface {
	// Validate returns an error for the first rule that the fields break. Its text
	// is a sentence that names the field and can be shown to a client.
	Validate() error
}

// A Store keeps the records of one resource, each with the owner who created it.
// It is safe for concurrent use by multiple goroutines and, if several processes
// can open the same store, by those processes.
//
// Callers pass valid [Fields], and owners of 1 to 255 bytes of UTF-8. A Store
// returns every field exactly as it was stored.
//
// # Atomicity
//
// Create and Delete are atomic and durable: each takes effect completely or not
// at all, at one moment between call and return. ErrInUse, ErrWriteTokenReused and
// ErrNotFound mean that the call has no effect. After any other error it may have
// taken effect, or may still do so. To find out, the caller repeats the Create with
// the same write token, or the Delete.
//
// There is one exception. A store that repeats its requests to a database may get no
// response to the first one, and a success from the second. The first may then still
// take effect after the call has returned nil. Such a store documents the effects.
//
// # Isolation
//
// All owners share one id space. Apart from whether an id is in use, owners
// learn nothing about each other: no call returns, changes or deletes another
// owner's record.
//
// # Staleness
//
// Create and Delete see the effects of every call that returned before they
// started. List may be eventually consistent, if the store documents that: for
// a moment it may omit a new record or return a deleted one.
//
// # Old records
//
// A record that an earlier version of the program stored may lack newer fields. A
// Store returns their zero values.
//
// # Errors
//
// Test errors with [errors.Is]. Every method may return ErrThrottled or
// ErrUnreachable, and Create and Delete may return ErrUnwritable. If ctx ends
// before the outcome is known, the error matches ctx.Err(); if ctx has already
// ended, the call has no effect. Any other error is internal.
type Store[T any] interface {
	// Create stores r for owner.
	//
	// If a record with r.ID exists, Create writes nothing. If the same owner
	// created it with the same write token, this is a retry: Create returns
	// nil if the existing fields are the same ([reflect.DeepEqual]), or else
	// ErrWriteTokenReused. In all other cases it returns ErrInUse.
	//
	// Of concurrent calls with the same id and different tokens, exactly one
	// succeeds. After a Delete the id is free again, and a Create with the
	// same token re-creates the record.
	Create(ctx context.Context, owner string, r Record[T], token WriteToken) error

	// List returns the records of owner that q selects, in ascending order of
	// id over the whole range of int64.
	List(ctx context.Context, owner string, q Query) (Page[T], error)

	// Delete deletes the record of owner with the given id. It returns
	// ErrNotFound if there is no such record or it belongs to another owner. Of
	// concurrent calls, exactly one succeeds. A store that retries requests may
	// return nil for a missing record too. It documents when.
	Delete(ctx context.Context, owner string, id int64) error
}

// A Query selects a page of an owner's records.
type Query struct {
	// After, if not nil, selects only records with greater ids. No record needs
	// to have that id.
	After *int64

	// Limit is the maximum number of records to return, at least 1.
	Limit int
}

// A Page is a part of an owner's records, in ascending order of id.
type Page[T any] struct {
	// Records are the first records that the query selects: at most
	// [Query.Limit], or fewer if the store ends the page early. A page
	// may be empty although more follow.
	Records []Record[T]

	// Next is the [Query.After] of the next page, also if this one is empty. It is nil
	// if this page is the last. It is greater than the query's After.
	Next *int64
}

// The errors of a [Store].
var (
	// ErrInUse means that a record with the id exists.
	ErrInUse = errors.New("the id is in use")

	// ErrWriteTokenReused means that the owner created a record with this id and this
	// write token, but with other field values.
	ErrWriteTokenReused = errors.New("the write token was used with other field values")

	// ErrNotFound means that the owner has no record with the id.
	ErrNotFound = errors.New("no such record")

	// ErrThrottled means that the storage is overloaded; a retry may succeed.
	ErrThrottled = errors.New("storage throttled")

	// ErrUnreachable means no usable response from the storage; a retry may succeed.
	ErrUnreachable = errors.New("storage unreachable")

	// ErrUnwritable means that the storage is full or can't be written, while
	// lists still work.
	ErrUnwritable = errors.New("storage full or unwritable")
)
