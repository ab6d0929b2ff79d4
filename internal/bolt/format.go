package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// The file is a bbolt database with three buckets. Sizes are in bytes.
//
//	meta    "format" → "1"
//
//	ids     the owner of each id, since all owners share one id space
//
//	        ┌──────┐   ┌──────────────┐
//	        │ id 8 │ → │ owner 1..255 │
//	        └──────┘   └──────────────┘
//
//	plants  the plants of each owner together, in ascending order of id
//
//	        ┌───────────────┬──────────────┬──────┐   ┌───────┐
//	        │ len(owner)  1 │ owner 1..255 │ id 8 │ → │ value │
//	        └───────────────┴──────────────┴──────┘   └───────┘
//
// An id is big-endian with its sign bit flipped, so that keys sort like ids. The
// length in front of the owner separates the plants of "a" from those of "ab".
var (
	metaBucket    = []byte("meta")
	formatKey     = []byte("format")
	plantIDBucket = []byte("ids")
	plantBucket   = []byte("plants")
)

// format is the version of this layout. Open rejects any other.
const format = "1"

// A value is the stored form of a plant, in JSON. The plant's id is in the key. The program never
// reads created_at, which is for people who look into the file. It ignores other members, too.
type value struct {
	plants.Plant
	CreatedAt time.Time `json:"created_at"` // UTC
}

// ownerPrefix returns the common prefix of the keys of owner's plants. It panics unless
// owner has 1 to 255 bytes. The key of a longer owner, whose length doesn't fit in one
// byte, could be another owner's.
func ownerPrefix(owner string) []byte {
	if len(owner) < 1 || len(owner) > 255 {
		panic(fmt.Sprintf("an owner must have 1 to 255 bytes, not %d", len(owner)))
	}
	return append([]byte{byte(len(owner))}, owner...)
}

// appendID appends id to b, encoded as in keys.
func appendID(b []byte, id int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(id^math.MinInt64))
}

func parseID(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) ^ math.MinInt64 }

// writeFormat writes the format into a new file. The next call of prepare adds the other buckets.
func writeFormat(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucket(metaBucket)
	if err != nil {
		return err
	}
	return meta.Put(formatKey, []byte(format))
}

// prepare runs at each start. It returns an error unless the file has this format, and creates the
// buckets that a new file lacks.
func prepare(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil || meta.Get(formatKey) == nil {
		return errors.New("it isn't a file of this program, or was copied while in use: " +
			"choose another data directory, or restore a backup")
	}
	if v := meta.Get(formatKey); string(v) != format {
		return fmt.Errorf("it has format %.20q, but this version of the program supports only %q: "+
			"use the version that wrote it, or choose another data directory", v, format)
	}
	if info, err := os.Stat(tx.DB().Path()); err == nil && info.Size() < tx.Size() { // pages are missing
		return damaged(fmt.Sprintf("it has only %d of %d bytes", info.Size(), tx.Size()))
	}
	for _, name := range [][]byte{plantIDBucket, plantBucket} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return nil
}
