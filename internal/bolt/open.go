package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"example.com/plantstore/internal/newfile"
)

// lockWait is how long Open waits for a lock, for example of a process that is
// shutting down. It may wait twice, and must return within a second.
const lockWait = 400 * time.Millisecond

// Open opens the file at path, which holds the plants. If there is
// no file, or an empty one, Open creates a file that only the current user can
// access (mode 0600), and missing directories too (0700). Existing directories keep
// their mode. A full disk leaves no incomplete file.
//
// Open fails, and leaves the file unchanged, if it has no known format, is shorter
// than its meta page says, or has no valid meta page. Other damage goes unnoticed
// until bbolt reads it, which Open may do too; see [File]. Open fails within a second
// if another process, or another File in this one, has the file open.
//
// Errors are one line that names the file and, for the usual causes, says what to do.
func Open(path string) (*File, error) {
	f := &File{path: path}
	err := guard(path, func() (err error) {
		f.db, err = openFile(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("can't open the data file %s: %w", path, advise(err, path))
	}
	return f, nil
}

func openFile(path string) (*bbolt.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = newfile.Create(path, create) // else a part of a file could be left, which would look damaged
	case err == nil && info.IsDir():
		err = errors.New("it is a directory, not a file: move it away, or choose another data directory")
	case err == nil && info.Size() > 0:
		err = verify(path)
	}
	if err != nil {
		return nil, err
	}
	db, err := openDB(path, bbolt.Options{})
	if err != nil {
		return nil, err
	}
	// A killed process may have left changes that aren't on disk. This commit puts
	// them there, before anything depends on them.
	if err := db.Update(writeFormat); err != nil {
		_ = db.Close()
		return nil, err
	}
	// After a power failure, a new file or directory is there only if its name is on disk.
	newfile.SyncDir(filepath.Dir(path))
	newfile.SyncDir(filepath.Dir(filepath.Dir(path)))
	return db, nil
}

// create writes an empty database to a new file.
func create(path string) error {
	db, err := openDB(path, bbolt.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(writeFormat), db.Close())
}

// verify checks the file at path, and only reads it: bbolt changes a file that it opens
// for writing.
func verify(path string) error {
	db, err := openDB(path, bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(db.View(checkFormat), db.Close())
}

func openDB(path string, options bbolt.Options) (*bbolt.DB, error) {
	options.Timeout = lockWait
	db, err := bbolt.Open(path, 0o600, &options)
	if err == nil {
		return db, nil
	}
	if _, isSystem := errors.AsType[syscall.Errno](err); isSystem || errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, err
	}
	return nil, damaged(err) // all other errors are about the contents
}

// damaged returns the error for a file whose contents are wrong.
func damaged(cause any) error { return fmt.Errorf("it is damaged: %v: %s", cause, wayBack) }

// advise adds to an error of bbolt or the operating system what to do.
func advise(err error, path string) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(pathErr.Path, path) {
		err = pathErr.Err // Open's message has the path
	}
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return errors.New("another process has it open: stop that process, or choose another data directory")
	case errors.Is(err, syscall.ENOSPC), runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(112)): // ERROR_DISK_FULL
		return fmt.Errorf("%w: free some disk space, or choose another data directory", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: let this user read and write the file and its directory, or choose another data directory", err)
	}
	return err
}
