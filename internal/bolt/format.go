package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// The file is a bbolt database with three buckets. Sizes are in bytes.
//
//	meta    describes the other buckets
//
//	        "format" → "1"
//
//	ids     the owner of each id, since all owners share one id space
//
//	        ┌──────┐   ┌──────────────┐
//	        │ id 8 │ → │ owner 1..255 │
//	        └──────┘   └──────────────┘
//
//	plants  the plants of each owner together, in ascending order of id
//
//	        ┌───────────────┬──────────────┬──────┐   ┌────────┐
//	        │ len(owner)  1 │ owner 1..255 │ id 8 │ → │ record │
//	        └───────────────┴──────────────┴──────┘   └────────┘
//
// An id is big-endian with its sign bit flipped, so that keys sort like ids. The
// length in front of the owner separates the plants of "a" from those of "ab".
var (
	metaBucket   = []byte("meta")
	idsBucket    = []byte("ids")
	plantsBucket = []byte("plants")

	formatKey = []byte("format")
)

// format is the version of this layout. Open rejects any other.
const format = "1"

// A record is the stored form of a plant, in JSON. A new field of
// [plants.Plant] goes here, into encode and into decode. [plants.Store] says what
// older records without it mean.
type record struct {
	Name           string                `json:"name"`
	Tag            *string               `json:"tag,omitzero"`
	CreatedAt      time.Time             `json:"created_at"` // UTC, RFC 3339
	IdempotencyKey plants.IdempotencyKey `json:"write_token"`
}

// encode returns r with the fields of p.
func encode(p plants.Plant, r record) ([]byte, error) {
	r.Name = p.Name
	r.Tag = p.Tag
	return json.Marshal(r)
}

// decode returns the plant with the given id, and its record.
func decode(id int64, value []byte) (p plants.Plant, r record, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return p, r, fmt.Errorf("the record of plant %d is damaged: %w", id, err)
	}
	p = plants.Plant{ID: id, Name: r.Name, Tag: r.Tag}
	return p, r, nil
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

const signBit = 1 << 63

// appendID returns a new slice with prefix and id.
func appendID(prefix []byte, id int64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clip(prefix), uint64(id)^signBit)
}

func parseID(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ signBit) }

// checkFile returns an error unless the database holds plants in a known format,
// and the file is as long as its meta page says.
func checkFile(tx *bbolt.Tx) error {
	info, err := os.Stat(tx.DB().Path())
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return damaged(fmt.Sprintf("it has %d bytes instead of %d", info.Size(), tx.Size()))
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

// makeBuckets turns an empty database into a store without plants.
func makeBuckets(tx *bbolt.Tx) error {
	for _, name := range [][]byte{metaBucket, idsBucket, plantsBucket} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(metaBucket).Put(formatKey, []byte(format))
}
