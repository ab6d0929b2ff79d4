package plants

import (
	"context"
	"errors"
)

// A Store keeps plants, each with the owner who created it. It is safe for
// concurrent use by multiple goroutines and, if several processes can open the
// same store, by those processes.
//
// Callers pass valid plants ([Plant.Validate]) and owners of 1 to 255 bytes of
// UTF-8. A Store returns every field exactly as it was stored.
//
// # Atomicity
//
// Create and Delete are atomic and durable: each takes effect completely or not
// at all, at one moment between call and return. If one returns an error other
// than ErrInUse, ErrKeyReused or ErrNotFound, it may have taken effect, or
// may still do so. To find out, the caller repeats the Create with the same
// idempotency key, or the Delete. A store that retries requests documents what an
// unanswered one may do after the call, such as create a deleted plant again.
//
// # Isolation
//
// All owners share one id space. Apart from whether an id is in use, owners
// learn nothing about each other: no call returns, changes or deletes another
// owner's plant.
//
// # Staleness
//
// Create and Delete see the effects of every call that returned before they
// started. List may be eventually consistent, if the store documents that: for
// a moment it may omit a new plant or return a deleted one.
//
// # Old records
//
// A plant that an earlier version of the program stored may lack newer fields. A
// Store returns nil for an optional one. For a required one it returns the default
// that this package defines, with which [Plant.Validate] accepts the plant.
//
// # Errors
//
// Test errors with [errors.Is]. Every method may return ErrThrottled or
// ErrUnreachable, and Create and Delete may return ErrUnwritable. If ctx ends
// before the outcome is known, the error matches ctx.Err(); if ctx has already
// ended, the call has no effect. Any other error is internal.
type Store interface {
	// Create stores p for owner.
	//
	// If a plant with p.ID exists, Create writes nothing. If the same owner
	// created it with the same idempotency key, this is a retry: Create returns
	// nil if the existing plant is the same as p ([Plant.Same]), or else
	// ErrKeyReused. In all other cases it returns ErrInUse.
	//
	// Of concurrent calls with the same id and different keys, exactly one
	// succeeds. After a Delete the id is free again, and a Create with the
	// same key re-creates the plant.
	Create(ctx context.Context, owner string, p Plant, key IdempotencyKey) error

	// List returns the plants of owner that q selects, in ascending order of
	// id over the whole range of int64.
	List(ctx context.Context, owner string, q Query) (Page, error)

	// Delete deletes the plant of owner with the given id. It returns
	// ErrNotFound if there is no such plant or it belongs to another owner. Of
	// concurrent calls, exactly one succeeds.
	Delete(ctx context.Context, owner string, id int64) error
}

// A Query selects a page of an owner's plants.
type Query struct {
	// After, if not nil, selects only plants with greater ids. No plant needs
	// to have that id.
	After *int64

	// Limit is the maximum number of plants to return, at least 1.
	Limit int
}

// A Page is a part of an owner's plants, in ascending order of id.
type Page struct {
	// Plants are the first plants that the query selects: at most
	// [Query.Limit], or fewer if the store ends the page early. A page
	// may be empty although more follow.
	Plants []Plant

	// Next is the [Query.After] of the next page, which may be empty, or nil if
	// this page is the last. It is greater than the query's After.
	Next *int64
}

// The errors of a [Store].
var (
	// ErrInUse means that a plant with the id exists.
	ErrInUse = errors.New("the id is in use")

	// ErrKeyReused means that the owner created a plant with this id and this
	// idempotency key, but with other field values.
	ErrKeyReused = errors.New("the idempotency key was used with other field values")

	// ErrNotFound means that the owner has no plant with the id.
	ErrNotFound = errors.New("no such plant")

	// ErrThrottled means that the storage is overloaded; a retry may succeed.
	ErrThrottled = errors.New("storage throttled")

	// ErrUnreachable means no usable response from the storage; a retry may succeed.
	ErrUnreachable = errors.New("storage unreachable")

	// ErrUnwritable means that the storage is full or can't be written, while
	// lists still work.
	ErrUnwritable = errors.New("storage full or unwritable")
)
