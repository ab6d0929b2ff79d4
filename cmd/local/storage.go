package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/plants"
)

// plantsFile is the name of the embedded store's file in the data directory.
const plantsFile = "plants.db"

// A storage is the store of plants, and what the program needs to close and describe it.
type storage struct {
	plants.Store
	close func() error
	where string // for the start-up messages
}

// openStore opens the store that the flags select.
func openStore(ctx context.Context, o options, table string, getenv func(string) string, log *slog.Logger) (*storage, error) {
	if o.store == "bolt" {
		return openBolt(o.data)
	}
	if err := checkCredentials(getenv); err != nil {
		return nil, err
	}
	return openDynamoDB(ctx, table, log)
}

func openBolt(dir string) (*storage, error) {
	path := filepath.Join(dir, plantsFile)
	store, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	return &storage{
		Store: store,
		close: store.Close,
		where: path + " (to start over, stop the program and delete the file)",
	}, nil
}
