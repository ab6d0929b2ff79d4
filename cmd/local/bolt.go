package main

import (
	"path/filepath"

	"example.com/plantstore/internal/bolt"
)

// plantsFile is the name of the embedded store's file in the data directory.
const plantsFile = "plants.db"

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
