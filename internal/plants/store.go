package plants

import (
	"context"
	"errors"
)

// A Store keeps plants, each with the owner who created it. It is safe for
// concurrent use, by any number of goroutines and, for a store that several
// processes can open, of processes.
//
// Callers pass valid plants ([Plant.Validate]) and owners of 1 to 255 bytes of
// UTF-8. A Store returns every string exactly as it was given.
//
// # Atomicity
//
// Create and Delete happen whole or not at all, once, at one moment between
// call and return, and what they did outlives the process from then on. When
// one returns an error other than ErrInUse, ErrTokenReused or ErrNotFound, its
// effect is unknown: it may have happened, or may still happen. To find out, a
// caller repeats a Create with the same write token, or a Delete.
//
// # Isolation
//
// Ids are one space for all owners, and that is all that owners can learn of
// one another: no call returns, changes or removes another owner's plant.
//
// # Staleness
//
// Create and Delete see everything that returned before they were called.
// List may lag: for a moment it may omit a new plant or show a deleted one, in
// either order, and settles as soon as writes do. A store that lags says so in
// its own documentation.
//
// # Errors
//
// Errors are tested with [errors.Is]. Any method may return ErrThrottled or
// ErrUnreachable, and returns an error that matches ctx.Err() if ctx ended
// before the answer was known; a call whose ctx has ended already does nothing.
// Any other error is a fault of the service.
type Store interface {
	// Create stores p for owner.
	//
	// If a plant with p.ID exists already, nothing is written, and the answer
	// depends on who made it. If owner did, with the same write token, then
	// this is the same request once more: nil if it is the [Plant.Same] as p,
	// ErrTokenReused if not. Otherwise the answer is ErrInUse, to the owner of
	// the existing plant and to everyone else alike.
	//
	// Of concurrent calls with one id and different tokens exactly one
	// succeeds. After a Delete the id is free again, and the same token makes
	// the plant anew.
	Create(ctx context.Context, owner string, p Plant, token WriteToken) error

	// List returns the plants of owner that q selects, in ascending order of
	// id over the whole range of int64. An owner without plants has an empty
	// page.
	List(ctx context.Context, owner string, q Query) (Page, error)

	// Delete removes the plant of owner with the given id. ErrNotFound means
	// that there is none, or that it is another owner's. Of concurrent calls
	// exactly one succeeds.
	Delete(ctx context.Context, owner string, id int64) error
}

// A Query selects a page of an owner's plants.
type Query struct {
	// After, if not nil, leaves out the plants up to and including that id.
	// No plant need have it: a page can follow a plant that is gone.
	After *int64

	// Limit is the largest number of plants to return, at least 1.
	Limit int
}

// A Page is a part of an owner's plants, in ascending order of id.
type Page struct {
	// Plants are the first plants that the query selects: at most
	// [Query.Limit], and fewer where the store ends a page of its own accord.
	Plants []Plant

	// More is false if no plant followed when the page was read. It is true if
	// one may: only another List tells.
	More bool
}

// The errors of a [Store].
var (
	// ErrInUse means that a plant with the id exists.
	ErrInUse = errors.New("the id is in use")

	// ErrTokenReused means that the owner made a plant of this id with this
	// write token, but with another name or tag.
	ErrTokenReused = errors.New("the write token was used with another name or tag")

	// ErrNotFound means that the owner has no plant with the id.
	ErrNotFound = errors.New("no such plant")

	// ErrThrottled means that the storage has more requests than it can take;
	// a later try may succeed.
	ErrThrottled = errors.New("storage throttled")

	// ErrUnreachable means that the storage gave no usable answer; a later try
	// may succeed.
	ErrUnreachable = errors.New("storage unreachable")
)
