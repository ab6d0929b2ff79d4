package bolt

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/newfile"
)

// Backup writes a copy of the file, as of one moment, to path. It replaces an earlier
// backup only when the copy is complete and on disk. Until then the copy has the name
// path + ".new", and a file that a killed process left there is removed. Meanwhile,
// lists and writes go on. If a write makes the file grow, it and all later calls wait
// for the copy.
func (f *File) Backup(path string) error {
	f.backingUp.Lock()
	defer f.backingUp.Unlock()
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // unless it has been renamed
	err = f.view(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(file)
		return err
	})
	if err := cmp.Or(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	newfile.SyncDir(filepath.Dir(path))
	return nil
}
