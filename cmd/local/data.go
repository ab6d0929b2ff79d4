package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"example.com/plantstore/internal/issuer"
)

// secureData creates the data directory if it is missing. It makes the program's files in
// it private, since files that were copied there may be readable by others. It rejects a
// directory that other users can write to, since they could replace the files. It also
// rejects files that aren't regular.
//
// It checks neither parent directories nor access control lists, although these may also
// let other users replace the files.
func secureData(dir string) error {
	if dir == "" {
		return errors.New("-data is empty: name a directory, such as .data")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("-data: %s is a file: name a directory", pathErr.Path)
		}
		return fmt.Errorf("-data %q can't be created (%w): choose a directory that you can write to", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("-data: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 { // Windows doesn't support these modes
		return fmt.Errorf("-data %s: its group or other users can write to this directory: run chmod go-w %[1]s, or choose a new directory", dir)
	}
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		if err := secureFile(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
	}
	return nil
}

// secureFile makes the file private, if there is one.
func secureFile(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory, not a file: move it away, or choose another data directory", path)
	}
	if !info.Mode().IsRegular() { // Chmod follows symbolic links
		return fmt.Errorf("%s is not a regular file: move it away, or choose the directory that contains the file itself", path)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("%w: make it a file of this user, or choose another data directory", err)
	}
	return nil
}
