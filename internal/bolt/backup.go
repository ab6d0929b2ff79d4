package bolt

import (
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/newfile"
)

// Backup writes a copy of the file, as of one moment, to path in the same way as [Open]
// creates a file: it has that name only when it is complete and on disk. It replaces an
// earlier backup. Meanwhile, lists and writes go on. If a write makes the file
// grow, it and all later calls wait for the copy.
func (f *File) Backup(path string) error {
	temp := path + ".new"
	left, _ := filepath.Glob(temp + "*") // of a killed process
	for _, name := range left {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	err := newfile.Create(temp, func(name string) error {
		return f.view(func(tx *bbolt.Tx) error { return tx.CopyFile(name, 0o600) })
	})
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	newfile.SyncDir(filepath.Dir(path))
	return nil
}
