package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/plants"
)

// plantsFile is the name of the embedded store's file in the data directory.
const plantsFile = "plants.db"

func openBolt(ctx context.Context, o options, _ config.Config, log *slog.Logger) (*stores, error) {
	path := filepath.Join(o.data, plantsFile)
	file, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	backUpOnSignal(ctx, file, path+".backup", log)
	return &stores{
		plants: bolt.NewStore[plants.Plant](file, "ids", "plants"),
		close:  file.Close,
		where:  path + " (to start over, stop the program and delete the file)",
	}, nil
}

// backUpOnSignal writes a backup to path whenever the process gets one of backupSignals,
// until ctx ends.
func backUpOnSignal(ctx context.Context, file *bolt.File, path string, log *slog.Logger) {
	if len(backupSignals) == 0 { // else Notify would take all signals
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, backupSignals...)
	go func() {
		for {
			select {
			case <-signals:
			case <-ctx.Done():
				return
			}
			if err := file.Backup(path); err != nil {
				log.Error("no backup", "file", path, "cause", err.Error())
			} else {
				log.Info("backup written", "file", path)
			}
		}
	}()
}
