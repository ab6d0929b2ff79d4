package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

var errDamaged = errors.New("it is damaged")

func damaged(cause any) error {
	return fmt.Errorf("%w: %v: restore a backup, or move the file away to start without plants", errDamaged, cause)
}

// guard calls fn, which uses a database. bbolt trusts what it reads from the
// mapped file: on a damaged page it panics, or follows an offset to an invalid
// address, which would end the process. guard turns both into an error.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = damaged(v)
		}
	}()
	return fn()
}

// checkMetas returns an error if the database at path is shorter than its meta
// page says, or if one of its two meta pages has a wrong checksum.
//
// bbolt would fall back to the other meta page, which is one commit older:
// plants whose creation was acknowledged would silently vanish. It isn't a torn
// write, since a meta page lies within one sector of the disk.
func checkMetas(tx *bbolt.Tx, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	switch info, err := file.Stat(); {
	case err != nil:
		return err
	case info.Size() < tx.Size():
		return damaged(fmt.Sprintf("it has %d bytes instead of %d", info.Size(), tx.Size()))
	}
	for page := range 2 {
		// A header of 16 bytes, then 56 bytes and their FNV-1a checksum. See
		// internal/common/meta.go in bbolt.
		var meta [64]byte
		if _, err := file.ReadAt(meta[:], int64(page*tx.DB().Info().PageSize+16)); err != nil {
			return err
		}
		sum := fnv.New64a()
		sum.Write(meta[:56])
		if binary.NativeEndian.Uint64(meta[56:]) != sum.Sum64() {
			return damaged(fmt.Sprintf("meta page %d has a wrong checksum", page))
		}
	}
	return nil
}
