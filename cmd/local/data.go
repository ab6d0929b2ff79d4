package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"example.com/plantstore/internal/issuer"
)

// createData creates the data directory if it is missing. Only the current user can access a
// new directory. An existing one is left as it is, since its owner may have reasons: for
// example, Kubernetes makes a volume writable by a group.
func createData(dir string) error {
	switch err := os.MkdirAll(dir, 0o700); {
	case errors.Is(err, fs.ErrExist): // something that isn't a directory, and leads to none
		return fmt.Errorf("-data: %w: it is a link to nothing; mount its disk, or create the directory that it names", err)
	case err != nil:
		return fmt.Errorf("-data: %w: name a directory that you can write to", err)
	}
	return nil
}

// warnReadableKey prints a warning if all users of this machine can read the token key, as
// they may after it was copied there.
func warnReadableKey(dir string, stderr io.Writer) {
	path := filepath.Join(dir, issuer.KeyFile)
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o004 != 0 && runtime.GOOS != "windows" { // Windows has no such modes
		fmt.Fprintf(stderr, "warning: every user of this machine can read the token key and sign tokens for any user: "+
			"run chmod o-r %s\n", path)
	}
}
