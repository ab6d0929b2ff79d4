package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"example.com/plantstore/internal/issuer"
)

// secureData creates the data directory if it is missing, and makes its files
// private: one that was copied there may not be. It refuses a directory of another user,
// or that others can write to, since they could replace the files, and files that aren't
// regular. It doesn't check the directories above: a user who can rename this one, or
// change it through an access control list, can replace it too.
func secureData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("-data %q can't be created (%w): choose a directory that you can write to", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("-data: %w", err)
	}
	if isOthers(info) {
		return fmt.Errorf("-data %s: it belongs to another user: chown it, or choose a new directory", dir)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 { // Windows has no such modes
		return fmt.Errorf("-data %s: other users can write to this directory: run chmod go-w %[1]s, or choose a new directory", dir)
	}
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		if err := secureFile(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
	}
	return nil
}

func secureFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory, not a file: move it away, or choose another data directory", path)
	case err == nil && !info.Mode().IsRegular(): // through a symbolic link, another file's mode would change
		return fmt.Errorf("%s is not a regular file: move it away, or choose the directory that has the file itself", path)
	case err == nil:
		err = os.Chmod(path, 0o600)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: if it belongs to another user, chown it, or choose another data directory", err)
	}
	return err
}
