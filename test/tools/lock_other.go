//go:build !windows

package tools

import (
	"os"
	"syscall"
)

// tryLock locks the file, or returns errLocked.
func tryLock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if err == syscall.EWOULDBLOCK {
			return nil, errLocked
		}
		return nil, &os.PathError{Op: "lock", Path: file, Err: err}
	}
	return func() { f.Close() }, nil
}
