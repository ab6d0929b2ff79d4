// Package bolt implements [plants.Store] in a single file, using
// go.etcd.io/bbolt. It suits a server on one machine and needs no separate
// database.
package bolt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// A File holds the plants. It is locked while it is open. Writes
// share commits: a commit takes all writes that are waiting when the previous one
// ends. bbolt's Batch would let a lone write wait for a timer, and commit for calls
// that change nothing.
//
// A page that bbolt can't read ends the process, after a message that names the file. So
// does any other panic within a transaction. Pages have no checksums, so damage may also
// go unnoticed. If the newer of bbolt's two meta pages is invalid, bbolt uses the older
// one, and the last commit is lost. A plant that can't be decoded fails only the calls
// that read it.
type File struct {
	db   *bbolt.DB
	path string

	mu      sync.Mutex
	waiting []*pendingWrite // for the next commit

	committing sync.Mutex // held while waiting writes are committed
	failed     bool       // the last commit failed
}

// Close waits for the transactions in progress and closes the file. Closing twice
// does nothing.
func (f *File) Close() error { return f.db.Close() }

// wayBack tells the user what to do about a file that can't be read.
const wayBack = "restore a backup, or move the file away to start without data"

// guard calls use, which uses the database at path. If use panics, guard prints why and
// ends the process: bbolt trusts what it reads, so on a damaged page it panics or follows
// an offset out of the file, and keeps its locks. If a server recovered the panic, later
// calls would hang, or write to the damaged file.
func guard(path string, use func() error) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // otherwise a fault ends the process without a message
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "the data file %s can't be read, or the program has a fault: %v: "+
				"start the program again; if that doesn't help, %s\n\n%s", path, v, wayBack, debug.Stack())
			os.Exit(1)
		}
	}()
	return use()
}

// view calls read in a transaction.
func (f *File) view(read func(*bbolt.Tx) error) error {
	return guard(f.path, func() error { return f.db.View(read) })
}

// A pendingWrite is a call of write that waits for a commit.
type pendingWrite struct {
	apply func(*bbolt.Tx) (changed bool, err error)
	err   error      // what apply returned
	done  chan error // receives what write returns
}

// write calls apply in a transaction. apply reports whether it changed anything. write
// returns apply's error once the changes that it depends on are on disk. If ctx ends
// before, write returns ctx.Err(), and the change may still happen.
func (f *File) write(ctx context.Context, apply func(*bbolt.Tx) (changed bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &pendingWrite{apply: apply, done: make(chan error, 1)}
	f.mu.Lock()
	f.waiting = append(f.waiting, w)
	if len(f.waiting) == 1 {
		go f.commitWaiting()
	}
	f.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commitWaiting waits for the commit in progress, and commits all writes that are
// waiting then.
func (f *File) commitWaiting() {
	f.committing.Lock()
	defer f.committing.Unlock()
	f.mu.Lock()
	batch := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	err := guard(f.path, func() error { return f.commit(batch) })
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", plants.ErrUnwritable, f.path, err)
	}
	for _, w := range batch {
		// If the commit failed, the writes' own errors don't count: even ErrInUse may
		// be due to a plant of the failed transaction.
		w.done <- cmp.Or(err, w.err)
	}
}

// commit carries out the writes of batch in one transaction. If none of them changes
// anything, it rolls that back, which costs nothing.
func (f *File) commit(batch []*pendingWrite) error {
	tx, err := f.db.Begin(true)
	if err != nil {
		return err
	}
	// A failed commit may be visible without being on disk. So the next one is needed
	// even if it changes nothing.
	needed := f.failed
	for _, w := range batch {
		var changed bool
		changed, w.err = w.apply(tx)
		needed = needed || changed
	}
	if !needed {
		return tx.Rollback()
	}
	err = tx.Commit() // rolls back if it fails
	f.failed = err != nil
	return err
}
