package bolt

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long Open waits for another process to release the file, for
// example one that is shutting down. Open may wait twice, and must return within
// a second.
const lockWait = 400 * time.Millisecond

// Open opens the store in the file at path. If there is no file, Open creates
// one that only the current user can access (mode 0600), and missing directories
// too (0700). Existing directories keep their mode. The file system must support
// hard links.
//
// Open fails, and leaves the file unchanged, if it isn't a store of a known
// format, is empty, is shorter than its meta page says, or has an invalid meta
// page. Any other damage goes unnoticed until bbolt reads it; see [Store]. Open
// fails within a second if another process, or another Store in this one, has
// the file open.
//
// Errors are one line that names the file and says what to do.
func Open(path string) (*Store, error) {
	db, err := openDB(path)
	if err != nil {
		return nil, fmt.Errorf("can't open the plants file %s: %w", path, advise(err, path))
	}
	s := &Store{db: db, path: path}
	s.broken, s.fail = context.WithCancelCause(context.Background())
	return s, nil
}

func openDB(path string) (*bbolt.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := createFile(path); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() == 0:
		return nil, damaged("it is empty")
	}
	if err := inspect(path); err != nil {
		return nil, err
	}
	return openFile(path, bbolt.Options{})
}

// createFile creates a store without plants at path. It is written under a
// temporary name first, so that path never names an incomplete file, and then
// linked to path, which fails if another process was faster.
func createFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := path + ".new-" + rand.Text()
	defer os.Remove(temp)
	db, err := bbolt.Open(temp, 0o600, nil)
	if err != nil {
		return err
	}
	if err := cmp.Or(db.Update(makeBuckets), db.Close()); err != nil {
		return err
	}
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Put the new names on disk, as far as the operating system can do that.
	for _, name := range []string{dir, filepath.Dir(dir)} {
		if d, err := os.Open(name); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
	return nil
}

// inspect returns an error if the file at path isn't a store. It only reads,
// while bbolt may change any file that it opens for writing.
func inspect(path string) error {
	db, err := openFile(path, bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return guard(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			if err := checkMetas(tx, path); err != nil {
				return err
			}
			return checkFormat(tx)
		})
	})
}

// openFile opens an existing database. If bbolt panics, the file stays open
// until it is garbage collected.
func openFile(path string, options bbolt.Options) (db *bbolt.DB, err error) {
	options.Timeout = lockWait
	err = guard(func() (err error) {
		db, err = bbolt.Open(path, 0, &options)
		return err
	})
	switch _, isSystem := errors.AsType[syscall.Errno](err); {
	case err == nil, isSystem, errors.Is(err, errDamaged), errors.Is(err, bbolterrors.ErrTimeout):
		return db, err
	}
	return nil, damaged(err)
}

// advise adds to an error of bbolt or the operating system what to do.
func advise(err error, path string) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(pathErr.Path, path) {
		err = pathErr.Err // Open's message has the path
	}
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return errors.New("another process has it open: stop that process, or choose another data directory")
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: free some disk space, or choose another data directory", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: let this user read and write the file and its directory, or choose another data directory", err)
	}
	return err
}
