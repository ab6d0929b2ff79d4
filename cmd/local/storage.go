package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/plants"
)

// plantsFile is the name of the embedded store's file in the data directory.
const plantsFile = "plants.db"

// A storage is the store of plants, and what the program tells about it. It is never closed: what is
// confirmed is on disk, and the system unlocks the file.
type storage struct {
	plants.Store
	lost  <-chan error // receives an error if the store can no longer be used; nil if that can't happen
	where string       // for the start-up messages
}

// openStore opens the store that the flags select.
func openStore(ctx context.Context, o options, table string, getenv func(string) string,
	log *slog.Logger,
) (*storage, error) {
	if o.store == "bolt" {
		return openBolt(o.data)
	}
	if err := checkCredentials(getenv); err != nil {
		return nil, err
	}
	return openDynamoDB(ctx, table, log)
}

func openBolt(dir string) (*storage, error) {
	// Absolute, because people wonder where their data is if they started the program elsewhere.
	path, err := filepath.Abs(filepath.Join(dir, plantsFile))
	if err != nil {
		return nil, err
	}
	store, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	return &storage{Store: store, lost: store.Lost(), where: path}, nil
}

// createData creates the data directory if it is missing. Only the current user can access a
// new directory. An existing one is left as it is, since its owner may have reasons: for
// example, Kubernetes makes a volume writable by a group.
func createData(dir string) error {
	if strings.HasPrefix(filepath.ToSlash(dir)+"/", "~/") { // as in -data=~/plants, or in a systemd unit
		return fmt.Errorf("-data %s: no shell has replaced ~: write the whole path", dir)
	}
	switch err := os.MkdirAll(dir, 0o700); {
	case errors.Is(err, fs.ErrExist): // a link to nothing; a plain file gets the next message
		return fmt.Errorf("-data: %w: it is a link to nothing; mount its disk, or create the directory that it names", err)
	case err != nil:
		return fmt.Errorf("-data: %w: name a directory that you can write to", err)
	}
	return nil
}
