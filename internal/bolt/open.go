package bolt

import (
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
	err = db.Update(makeBuckets)
	_ = db.Close()
	if err != nil {
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
