package bolt

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"

	bbolterrors "go.etcd.io/bbolt/errors"
)

// errDamaged is in the errors for a damaged file.
var errDamaged = errors.New("it is damaged")

// damaged returns the error for a file with the given path.
func damaged(path string, cause any) error {
	return fmt.Errorf("the data file %s: %w: %v: restore a backup, or move the file away to start without data", path, errDamaged, cause)
}

// stop makes all later calls return err, if it is about damage.
func (f *File) stop(err error) {
	if errors.Is(err, errDamaged) {
		f.stopped.Store(&err)
	}
}

// bboltPanicked matches the stack of a panic that bbolt raised.
var bboltPanicked = regexp.MustCompile(`\npanic\(.*\n.*\ngo\.etcd\.io/bbolt`)

// guard calls use, which uses the database, unless f has stopped. It returns panics over
// a damaged file as errors: bbolt trusts what it reads, so on a damaged page it panics or
// follows an offset out of the file. Other panics are bugs, and continue.
func (f *File) guard(use func() error) (err error) {
	if stopped := f.stopped.Load(); stopped != nil {
		return *stopped
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		_, fault := v.(interface{ Addr() uintptr }) // see debug.SetPanicOnFault
		cause, _ := v.(error)
		// bbolt returns ErrIncompatibleValue for a bucket in place of a value, or the reverse.
		if !fault && !errors.Is(cause, bbolterrors.ErrIncompatibleValue) && !bboltPanicked.Match(debug.Stack()) {
			panic(v)
		}
		err = damaged(f.path, v)
	}()
	return use()
}
