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
// private: one that was copied there may not be. It refuses a directory that other
// users can write to, since they could replace the files.
func secureData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("-data %q can't be created (%w): choose a directory that you can write to", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("-data: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 { // Windows has no such modes
		return fmt.Errorf("-data %s: other users can write to this directory: run chmod go-w %[1]s, or choose a new directory", dir)
	}
	for _, name := range []string{plantsFile, issuer.KeyFile} {
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("-data: %w", err)
		}
	}
	return nil
}
