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

func damaged(cause any) error {
	return fmt.Errorf("%w: %v: restore a backup, or move the file away to start without data", errDamaged, cause)
}

// bboltPanicked matches the stack of a panic that bbolt raised.
var bboltPanicked = regexp.MustCompile(`\npanic\(.*\n.*\ngo\.etcd\.io/bbolt`)

// catch calls fn, which uses a database, and returns its panics over a damaged file as
// errors: bbolt trusts what it reads, so on a damaged page it panics or follows an
// offset out of the file. Other panics are bugs, and continue.
func catch(fn func() error) (err error) {
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
		err = damaged(v)
	}()
	return fn()
}
