package plants

import (
	"context"
	"errors"
)

// A Store keeps plants, each with the owner who created it. A plant comes back exactly as it
// was stored.
//
// Callers pass valid plants, and owners of 1 to 255 bytes of UTF-8. They may call a Store
// concurrently. Several processes may share its storage.
//
// # Owners
//
// All owners share one id space, since the key of the table is the id alone. An owner can
// learn that an id is in use, and nothing else about the plants of other owners: no call
// returns, changes or deletes them.
//
// # Consistency
//
// Create and Delete are atomic and durable: each takes effect completely or not at all,
// at one moment, and a call that starts after another has returned sees its effect. There
// are two exceptions, which a store must document:
//
//   - List may be eventually consistent. For a moment it may omit a new plant or return a
//     deleted one.
//   - A store that repeats its requests to a database may have exceptions for requests that
//     got no response.
//
// # Errors
//
// Test errors with [errors.Is]. ErrInUse, ErrExists and ErrNotFound mean that the call has changed
// nothing, with the exceptions above. Every method may return ErrThrottled or ErrUnreachable, and
// Create and Delete may return ErrUnwritable. If ctx ends before the outcome is known, the
// error matches ctx.Err(). If ctx has already ended, the call changes nothing. Any other
// error is a fault of the service.
//
// After an error other than the first three, a Create or Delete may have taken effect, or
// may still do so. To find out, the caller repeats the call.
type Store interface {
	// Create stores p for owner. If owner already has this very plant, Create changes
	// nothing and returns nil, so that any create can be repeated.
	//
	// If another owner has a plant with this id, Create returns ErrInUse. If owner has
	// another plant with it, Create returns ErrExists. Of concurrent creates of one id, by
	// different owners or with different plants, exactly one succeeds. After a Delete the id
	// is free again.
	Create(ctx context.Context, owner string, p Plant) error

	// List returns a page of owner's plants, in ascending order of id. If after is not nil, the
	// page has only greater ids; no plant need have that id. The page has at most limit
	// plants, which is at least 1. A store may end a page earlier. It must, before the texts in it
	// exceed 1 MB. If more is true, the page isn't empty, and there may be more plants.
	List(ctx context.Context, owner string, after *int64, limit int) (page []Plant, more bool, err error)

	// Delete deletes owner's plant with the given id. It returns ErrNotFound if there is
	// no such plant or it belongs to another owner. Concurrent deletes of one plant may all
	// succeed. At least one does.
	Delete(ctx context.Context, owner string, id int64) error
}

// The errors of a [Store].
var (
	// ErrInUse means that another owner has a plant with the id.
	ErrInUse = errors.New("the id is in use by another owner")

	// ErrExists means that the owner has another plant with the id.
	ErrExists = errors.New("the owner has another plant with this id")

	// ErrNotFound means that the owner has no plant with the id.
	ErrNotFound = errors.New("no such plant")

	// ErrThrottled means that the storage is overloaded; a retry may succeed.
	ErrThrottled = errors.New("storage throttled")

	// ErrUnreachable means that the storage sent no usable response; a retry may succeed.
	ErrUnreachable = errors.New("storage unreachable")

	// ErrUnwritable means that the storage is full or can't be written, while
	// lists still work.
	ErrUnwritable = errors.New("storage full or unwritable")
)
