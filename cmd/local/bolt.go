package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/config"
)

// plantsFile is the name of the embedded store's file in the data directory.
const plantsFile = "plants.db"

func openBolt(_ context.Context, o options, _ config.Config, _ *slog.Logger) (*stores, error) {
	path := filepath.Join(o.data, plantsFile)
	store, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	return &stores{
		plants: store,
		close:  store.Close,
		where:  path + " (to start over, stop the program and delete the file)",
	}, nil
}
