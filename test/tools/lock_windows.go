package tools

import (
	"os"
	"syscall"
)

// tryLock opens the file without sharing it, which succeeds for one at a time.
// The others get errLocked.
func tryLock(file string) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(file)
	if err != nil {
		return nil, err
	}
	const (
		unshared         = 0
		sharingViolation = syscall.Errno(32) // ERROR_SHARING_VIOLATION
	)
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, unshared, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err == sharingViolation {
		return nil, errLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: file, Err: err}
	}
	return func() { syscall.CloseHandle(h) }, nil
}
