package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/plantstore/internal/issuer"
)

// secureData creates the data directory if it is missing, and makes its files
// private: one that was copied there may not be. It refuses a directory that other
// users can write to, and what doesn't belong to the user with this id, since
// someone else may have put it there.
func secureData(dir string, uid int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("-data %s can't be created (%w): choose a directory that you can write to", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("-data: %w", err)
	}
	if !ownedBy(info, uid) {
		return fmt.Errorf("-data %s belongs to another user, who could replace the files in it: choose a directory of your own", dir)
	}
	if writableByOthers(info) {
		return fmt.Errorf("-data %s: other users can write to this directory: run chmod go-w %[1]s, or choose a new directory", dir)
	}
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		if err := secureFile(filepath.Join(dir, name), uid); err != nil {
			return err
		}
	}
	return nil
}

func secureFile(path string, uid int) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // a symbolic link would lead the change of mode elsewhere
		return fmt.Errorf("%s is not a regular file: move it away, or set -data to the directory that has the file itself", path)
	case !ownedBy(info, uid):
		return fmt.Errorf("%s belongs to another user, who may know or change what it has: run chown if you trust it, or move it away", path)
	}
	return os.Chmod(path, 0o600)
}
