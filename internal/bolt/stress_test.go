package bolt

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// No file that the store itself wrote may ever look damaged.
func TestSoundThroughChange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	path := newPath(t)
	for round := range 200 {
		s, err := Open(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		s.db.NoSync = true
		for range 1 + random.IntN(6) {
			if err := s.db.Update(func(tx *bbolt.Tx) error { return shuffle(tx, random) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func shuffle(tx *bbolt.Tx, random *rand.Rand) error {
	ids, all := tx.Bucket(idsBucket), tx.Bucket(plantsBucket)
	owner := strings.Repeat("a", []int{1, 2, 255}[random.IntN(3)])
	prefix, err := ownerKey(owner)
	if err != nil {
		return err
	}
	width := 1 << random.IntN(10) // how far the ids spread
	grow := random.IntN(2) == 0
	for range random.IntN(300) {
		id := int64(random.IntN(width) - width/2)
		if !grow {
			if err := ids.Delete(appendID(nil, id)); err != nil {
				return err
			}
			if k, _ := all.Cursor().Seek(appendID(prefix, id)); k != nil {
				if err := all.Delete(k); err != nil {
					return err
				}
			}
			continue
		}
		name := strings.Repeat("\x00", 1+random.IntN(plants.MaxNameLength))
		value, err := encode(plants.Plant{Name: name, Tag: &name}, "token", epoch)
		if err != nil {
			return err
		}
		if err := ids.Put(appendID(nil, id), []byte(owner)); err != nil {
			return err
		}
		if err := all.Put(appendID(prefix, id), value); err != nil {
			return err
		}
	}
	return nil
}
