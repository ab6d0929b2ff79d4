package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"go.etcd.io/bbolt"
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
	metaBucket  = []byte("meta")
	formatKey   = []byte("format")
	idBucket    = []byte("ids")
	plantBucket = []byte("plants")
)

// format is the version of this layout. Open rejects any other.
const format = "1"

// A value is the stored form of a plant, in JSON. Its id is in the key. Values of earlier
// versions also have a member write_token, which nothing reads.
type value struct {
	Name      string    `json:"name"`
	Tag       *string   `json:"tag,omitzero"`
	CreatedAt time.Time `json:"created_at"` // UTC, RFC 3339
}

// ownerKey returns the prefix that the keys of owner's plants have in common. It
// panics unless the length of owner fits in one byte: with another length, the key
// could be another owner's.
func ownerKey(owner string) []byte {
	if len(owner) < 1 || len(owner) > 255 {
		panic(fmt.Sprintf("an owner must have 1 to 255 bytes, not %d", len(owner)))
	}
	return append([]byte{byte(len(owner))}, owner...)
}

// appendID appends id to b as it is in keys.
func appendID(b []byte, id int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(id^math.MinInt64))
}

func parseID(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) ^ math.MinInt64 }

// checkFormat returns an error unless the file is complete and has this format, or no
// buckets yet.
func checkFormat(tx *bbolt.Tx) error {
	if info, err := os.Stat(tx.DB().Path()); err == nil && info.Size() < tx.Size() {
		return damaged(fmt.Sprintf("it has %d bytes instead of %d", info.Size(), tx.Size()))
	}
	if first, _ := tx.Cursor().First(); first == nil {
		return nil // a process was killed before writeFormat
	}
	meta := tx.Bucket(metaBucket)
	if meta == nil || meta.Get(formatKey) == nil {
		return errors.New("it is a bbolt database of another program: choose another data directory")
	}
	if v := meta.Get(formatKey); string(v) != format {
		return fmt.Errorf("it has format %.20q, but this version of the program supports only %q: "+
			"use the version that wrote it, or choose another data directory", v, format)
	}
	return nil
}

// writeFormat makes the file one of this format. The first write makes the other buckets.
func writeFormat(tx *bbolt.Tx) error {
	return bucket(tx, metaBucket).Put(formatKey, []byte(format))
}

// bucket returns the bucket with the given name, and makes it if it doesn't exist.
func bucket(tx *bbolt.Tx, name []byte) *bbolt.Bucket {
	b, err := tx.CreateBucketIfNotExists(name)
	must(err)
	return b
}

// must panics if a change failed. bbolt rejects only keys and values of invalid
// sizes, which this package never passes. The disk's errors come from the commit.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
