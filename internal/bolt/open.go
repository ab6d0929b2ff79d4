package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"example.com/plantstore/internal/newfile"
)

// lockWait is how long Open waits for the lock, for example until another process has
// shut down.
const lockWait = 900 * time.Millisecond

// Open opens the file at path. If the file doesn't exist, Open creates it, and only the
// current user can access it (mode 0600). A full disk leaves no incomplete file.
//
// Open fails within a second if another process, or another Store in this process, has the
// file open. It leaves files of other programs or other formats alone. Errors are one line
// with the file's name and, for the usual causes, what to do.
func Open(path string) (*Store, error) {
	db, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("can't open the data file %s: %w", path, advise(err, path))
	}
	return &Store{db, path, make(chan struct{}, maxWrites), make(chan error, 1)}, nil
}

func openFile(path string) (db *bbolt.DB, err error) {
	// In a damaged file, bbolt may panic or cause a fault, see panicOnFault. Here both become an error.
	// The program ends then, so the file may stay open and bbolt locked.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = damaged(v)
		}
	}()
	// bbolt would write a new file in place. If the disk is full, it would leave an incomplete
	// file, which no later start could use.
	if err := newfile.Ensure(path, func(temp string) error {
		db, err := openDB(temp)
		if err != nil {
			return err
		}
		return errors.Join(db.Update(writeFormat), db.Close())
	}); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		return nil, errors.New("it is empty: restore a backup, or remove the file to start without data")
	}
	if db, err = openDB(path); err != nil {
		return nil, err
	}
	db.MaxBatchDelay = time.Millisecond // the default of 10 ms would delay each concurrent write
	// A killed process may have left changes that aren't on disk. This commit writes
	// them to disk before anything depends on them. After an error, the program ends.
	return db, db.Update(prepare)
}

func openDB(path string) (*bbolt.DB, error) {
	// Don't create it: a file that has gone since newfile found it, perhaps with its disk, is an error.
	openExisting := func(name string, flag int, mode fs.FileMode) (*os.File, error) {
		return os.OpenFile(name, flag&^os.O_CREATE, mode)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, OpenFile: openExisting})
	if errors.Is(err, bbolterrors.ErrInvalid) || errors.Is(err, bbolterrors.ErrChecksum) {
		return nil, damaged(err)
	}
	return db, err
}

// damaged returns an error about the file's contents. The cause may be the value of a panic.
func damaged(cause any) error {
	if isFault(cause) {
		cause = "a page can't be read"
	}
	return fmt.Errorf("it is damaged: %v: restore a backup, or move the file away to start without data", cause)
}

// advise adds advice to an error from bbolt or the operating system.
func advise(err error, path string) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(pathErr.Path, path) {
		err = pathErr.Err // Open's message names the file; the error may name a temporary one beside it
	}
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return errors.New("another process has it open: stop that process, or choose another data directory")
	case errors.Is(err, syscall.ENOSPC),
		runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(112)): // ERROR_DISK_FULL
		return fmt.Errorf("%w: free some disk space, or choose another data directory", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: let this user read and write the file and its directory, or choose another data directory",
			err)
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOLCK),
		errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.EBADF), errors.Is(err, syscall.Errno(524)):
		// Reported for shared folders of virtual machines, FUSE and NFS, which sends Linux's own 524:
		// etcd-io/bbolt#102, boltdb/bolt#690, jacobsa/fuse#82, JuliaLang/juliaup#252.
		return fmt.Errorf("%w: the file system may not support locks or memory maps: "+
			"choose a data directory on a local disk", err)
	}
	return err
}
