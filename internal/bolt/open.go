package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long Open waits for another process to let go of the file,
// such as one that is being replaced. Open may wait twice, and promises an
// answer within a second.
const lockWait = 400 * time.Millisecond

// Open opens the store in the file at path. A missing or empty file becomes a
// new store that only the current user can read (mode 0600), and missing
// folders are made likewise (0700); those that exist keep their mode.
//
// The whole file is read to see that it is sound: some 400 MB where there are a
// million plants, and tenths of a second unless it has to come from a slow disk.
// If it isn't sound, or isn't a store of plants of a known format, then it is
// left exactly as it is. While another process, or another Store of this one,
// has the file open, Open fails within a second.
//
// Errors name the file and say what to do, in one line.
func Open(path string) (*Store, error) { return open(path, 0) }

// open is Open for a file of at most maxSize bytes; 0 means no bound.
func open(path string, maxSize int) (*Store, error) {
	db, err := openDB(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("the plants' file %s can't be opened: %w", path, advise(err, path))
	}
	db.MaxBatchDelay = batchDelay
	return &Store{db: db, path: path}, nil
}

func openDB(path string, maxSize int) (*bbolt.DB, error) {
	isNew, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if isNew {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, MaxSize: maxSize})
	if err != nil {
		if isNew && !errors.Is(err, bbolterrors.ErrTimeout) && !errors.Is(err, fs.ErrPermission) {
			// What a full disk took of a new file would be a damaged file the
			// next time. If this fails too, then that is what it will be.
			_ = os.Truncate(path, 0)
		}
		return nil, err
	}
	if err := prepare(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// inspect returns an error if there is a file at path that isn't a sound store.
// It reports whether there is none yet. It only reads, since bbolt trusts a file
// that it opens for writing: a damaged one can end the process (SIGBUS) or be
// written to.
func inspect(path string) (isNew bool, err error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, errors.New("it is not a regular file")
	case info.Size() == 0:
		return true, nil
	}
	var file *os.File
	db, err := bbolt.Open(path, 0, &bbolt.Options{
		ReadOnly: true, // also: touches no page but the two meta pages
		Timeout:  lockWait,
		OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
			file, err = os.OpenFile(name, flag, mode)
			return file, err
		},
	})
	var errno syscall.Errno
	switch {
	case err == nil:
	case errors.Is(err, bbolterrors.ErrTimeout), errors.As(err, &errno):
		return false, err
	default:
		return false, damaged(err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		if err := checkPages(tx, file); err != nil {
			return damaged(err)
		}
		_, err := checkFormat(tx)
		return err
	})
	return false, errors.Join(err, db.Close())
}

// prepare makes an empty database one of plants.
func prepare(db *bbolt.DB, path string) error {
	var empty bool
	err := db.View(func(tx *bbolt.Tx) (err error) {
		empty, err = checkFormat(tx)
		return err
	})
	if err != nil || !empty {
		return err
	}
	if err := db.Update(makeBuckets); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder puts the names of new files in dir on disk, and dir's own in the
// folder above, where an operating system knows such a thing.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range []string{dir, filepath.Dir(dir)} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrPermission) {
			continue // a folder above that others own was not made here
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func damaged(err error) error {
	return fmt.Errorf("it is damaged, and was left as it is: %w: "+
		"put back a copy, or move it away to start without plants", err)
}

// advise adds to an error of bbolt or of the operating system what to do.
func advise(err error, path string) error {
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return errors.New("another process has it open: stop that one, or choose another data folder")
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) && pathErr.Path == path {
		err = pathErr.Err // path is named already
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: let this user read and write the file and its folder, or choose another data folder", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: make room, or choose another data folder", err)
	}
	return err
}
