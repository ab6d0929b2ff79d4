// Package newfile creates files that exist only when they are complete.
package newfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Create calls fill to write a file that only the current user can access (mode 0600),
// and then gives it the name path. A full disk, a killed process or a power failure
// leaves no incomplete file at path. If another process creates path first, Create leaves
// that file alone and returns nil; but on a file system without hard links, such as FAT,
// it replaces the file.
//
// Fill gets the name of an empty file in the same directory. The contents are on disk
// when Create returns; the name is after [SyncDir].
func Create(path string, fill func(temp string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	temp := f.Name()
	defer os.Remove(temp)
	_ = f.Close() // nothing was written
	if err := fill(temp); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces a file.
	if err := os.Link(temp, path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(temp, path)
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) // Windows syncs only files that are open for writing
	if err != nil {
		return err
	}
	return cmp.Or(f.Sync(), f.Close())
}

// SyncDir puts the names of the files in dir on disk, as far as the operating system can
// do that.
func SyncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
