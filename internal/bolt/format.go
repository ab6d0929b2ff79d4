package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// The file is a bbolt database with three buckets. Sizes are in bytes.
//
//	meta    what the other buckets hold
//
//	        "format" → "1"
//
//	ids     who has which id, since ids are one space for all owners
//
//	        ┌──────┐   ┌──────────────┐
//	        │ id 8 │ → │ owner 1..255 │
//	        └──────┘   └──────────────┘
//
//	plants  the plants of an owner side by side, in the order of their ids
//
//	        ┌───────────────┬──────────────┬──────┐   ┌────────┐
//	        │ len(owner)  1 │ owner 1..255 │ id 8 │ → │ record │
//	        └───────────────┴──────────────┴──────┘   └────────┘
//
// An id is big-endian with its sign bit flipped: bytes then sort as the numbers
// do. The length in front keeps the plants of "a" from those of "ab".
var (
	metaBucket   = []byte("meta")
	idsBucket    = []byte("ids")
	plantsBucket = []byte("plants")

	formatKey = []byte("format")
)

// format is the version of all that this file says. A program refuses a
// version that it doesn't know.
const format = "1"

// A record is the value of a plant, in JSON.
type record struct {
	Name       string            `json:"name"`
	Tag        *string           `json:"tag,omitzero"` // absent if there is none
	CreatedAt  time.Time         `json:"created_at"`   // RFC 3339, in UTC
	WriteToken plants.WriteToken `json:"write_token"`
}

func encode(p plants.Plant, token plants.WriteToken, now time.Time) ([]byte, error) {
	b, err := json.Marshal(record{p.Name, p.Tag, now.UTC(), token})
	if err != nil {
		return nil, fmt.Errorf("plant %d can't be stored: %w", p.ID, err)
	}
	return b, nil
}

// decode returns the plant with the given id and record, and the token of the
// request that made it.
func decode(id int64, value []byte) (plants.Plant, plants.WriteToken, error) {
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return plants.Plant{}, "", fmt.Errorf("the record of plant %d is damaged: %w", id, err)
	}
	return plants.Plant{ID: id, Name: r.Name, Tag: r.Tag}, r.WriteToken, nil
}

// ownerKey returns what the keys of owner's plants begin with.
func ownerKey(owner string) ([]byte, error) {
	if len(owner) < 1 || len(owner) > 255 {
		// A length that doesn't fit its byte would make another owner's key.
		return nil, fmt.Errorf("an owner must have 1 to 255 bytes, not %d", len(owner))
	}
	return append([]byte{byte(len(owner))}, owner...), nil
}

const signBit = 1 << 63

// appendID returns prefix with id after it, in memory of its own.
func appendID(prefix []byte, id int64) []byte {
	key := make([]byte, 0, len(prefix)+8)
	return binary.BigEndian.AppendUint64(append(key, prefix...), uint64(id)^signBit)
}

func parseID(b []byte) (int64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("a plant's key is damaged: its id has %d bytes", len(b))
	}
	return int64(binary.BigEndian.Uint64(b) ^ signBit), nil
}

// checkFormat returns an error if the database is not one of plants in the
// format that this package knows. It reports whether it is empty, and so may
// become one.
func checkFormat(tx *bbolt.Tx) (empty bool, err error) {
	if k, _ := tx.Cursor().First(); k == nil {
		return true, nil
	}
	meta := tx.Bucket(metaBucket)
	if meta == nil || meta.Get(formatKey) == nil {
		return false, errors.New("it is a bbolt database, but not one of plants: choose another data folder")
	}
	if v := meta.Get(formatKey); string(v) != format {
		return false, fmt.Errorf("it has format %.20q and this program knows only %q: "+
			"use the version of the program that wrote it, or choose another data folder", v, format)
	}
	if tx.Bucket(idsBucket) == nil || tx.Bucket(plantsBucket) == nil {
		return false, damaged(errors.New("a bucket is missing"))
	}
	return false, nil
}

// makeBuckets makes an empty database one of plants.
func makeBuckets(tx *bbolt.Tx) error {
	for _, name := range [][]byte{metaBucket, idsBucket, plantsBucket} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(metaBucket).Put(formatKey, []byte(format))
}
