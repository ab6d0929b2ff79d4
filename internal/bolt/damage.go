package bolt

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
)

var errDamaged = errors.New("it is damaged")

func damaged(cause any) error {
	return fmt.Errorf("%w: %v: restore a backup, or move the file away to start without plants", errDamaged, cause)
}

// A panicError is a panic with its stack. Its cause is a bug.
type panicError struct{ error }

// bboltPanic matches the stack of a panic that bbolt raised.
var bboltPanic = regexp.MustCompile(`\npanic\(.*\n.*\ngo\.etcd\.io/bbolt`)

// catch calls fn, which uses a database, and returns its panics as errors.
//
// bbolt trusts what it reads from the mapped file: on a damaged page it panics, or
// follows an offset to an invalid address, which would end the process.
func catch(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		stack := debug.Stack()
		_, isFault := v.(interface{ Addr() uintptr }) // see debug.SetPanicOnFault
		// A nil pointer in bbolt is a bucket that doesn't exist.
		if isFault || bboltPanic.Match(stack) && !strings.Contains(fmt.Sprint(v), "nil pointer") {
			err = damaged(v)
		} else {
			err = panicError{fmt.Errorf("%v\n\n%s", v, stack)}
		}
	}()
	return fn()
}

// repanic returns err, or panics with it if it is a panicError.
func repanic(err error) error {
	if p, ok := errors.AsType[panicError](err); ok {
		panic(p)
	}
	return err
}
