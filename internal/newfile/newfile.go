// Package newfile creates files that appear only when they are complete.
package newfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Ensure creates the file at path, unless it exists. The function write must write the
// contents to the file temp. Only the current user can access the file (mode 0600). If
// several processes call Ensure, one creates the file and the others keep it. A full disk,
// a killed process or a power failure leaves no incomplete file at path.
//
// When Ensure returns nil, the file and its name are on disk, even if an earlier process
// created the file and was killed. On systems that can't sync a directory, such as Windows, the
// name may not be on disk. If path is a link to nothing, Ensure returns an error: the disk of its target
// may not be mounted.
func Ensure(path string, write func(temp string) error) error {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = createWhole(path, write)
	}
	if err != nil {
		return err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) { // os.MkdirAll may have created any of them
		if d, err := os.Open(dir); err == nil {
			_ = d.Sync() // some systems can't
			_ = d.Close()
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func createWhole(path string, write func(temp string) error) error {
	if target, err := os.Readlink(path); err == nil {
		return fmt.Errorf("it is a link to %s, which doesn't exist: "+
			"mount its disk, or use the target's directory instead of the link", target)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close() // before Remove, for Windows
	if err := write(f.Name()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil { // it also syncs what write has written through another handle
		return err
	}
	// Unlike a rename, a link never replaces the file of another process.
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("it can't be linked (%v): choose a directory on a file system with hard links", err)
	}
	return nil
}
