package bolt

import (
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

// lockWait is how long Open waits for a lock, for example of a process that is
// shutting down. It may wait three times, and must return within a second.
const lockWait = 300 * time.Millisecond

// Open opens the store in the file at path. If there is no file, Open creates
// one that only the current user can access (mode 0600), and missing directories
// too (0700). Existing directories keep their mode. A process that is killed
// meanwhile leaves no file, or a complete one.
//
// Open fails, and leaves the file unchanged, if it isn't a store of a known
// format, is empty, is shorter than its meta page says, or has no valid meta page.
// Other damage goes unnoticed until bbolt reads it; see [Store]. Open fails within
// a second if another process, or another Store in this one, has the file open.
//
// Errors are one line that names the file and says what to do.
func Open(path string) (*Store, error) {
	var db *bbolt.DB
	err := catch(func() (err error) {
		db, err = openDB(path)
		return err
	})
	if repanic(err) != nil {
		return nil, fmt.Errorf("can't open the plants file %s: %w", path, advise(err, path))
	}
	return &Store{db: db, path: path}, nil
}

func openDB(path string) (*bbolt.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = createFile(path)
	case err == nil && info.Size() == 0: // createFile never leaves that
		err = damaged("it is empty")
	}
	if err != nil {
		return nil, err
	}
	// First only read: bbolt may change any file that it opens for writing.
	db, err := openFile(path, bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = db.View(checkFile)
	_ = db.Close()
	if err != nil {
		return nil, err
	}
	return openFile(path, bbolt.Options{})
}

// createFile creates the file at path, complete, unless another process is faster.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// bbolt locks its files on every operating system. A new one with pages this
	// small is written in one piece: a killed process can't leave half of it.
	lockPath := path + ".lock"
	lock, err := openFile(lockPath, bbolt.Options{PageSize: 1024})
	if err != nil {
		return fmt.Errorf("its lock %s: %w", lockPath, err)
	}
	defer lock.Close()
	if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		err = writeFile(path)
	}
	if err == nil {
		_ = os.Remove(lockPath) // any process that locks it from now on finds path
	}
	return err
}

// writeFile puts a store without plants at path.
func writeFile(path string) error {
	temp := path + ".new"
	_ = os.Remove(temp) // left by a killed process
	db, err := openFile(temp, bbolt.Options{})
	if err != nil {
		return err
	}
	err = db.Update(makeBuckets)
	_ = db.Close()
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	// Put the new names on disk, as far as the operating system can do that.
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if d, err := os.Open(dir); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
	return nil
}

// openFile opens a database, and creates the file unless it only reads.
func openFile(path string, options bbolt.Options) (*bbolt.DB, error) {
	options.Timeout = lockWait
	db, err := bbolt.Open(path, 0o600, &options)
	if _, isSystem := errors.AsType[syscall.Errno](err); err == nil || isSystem || errors.Is(err, bbolterrors.ErrTimeout) {
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
