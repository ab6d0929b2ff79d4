package bolt

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

func TestStore(t *testing.T) {
	s := openTest(t, newPath(t))
	plantstest.TestStore(t, s)
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "plants.db") }

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openTest opens the store of plants in the file at path until the test ends.
func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	noErr(t, err)
	t.Cleanup(func() { noErr(t, s.Close()) })
	return s
}

// oldFile returns a file from the first version. Every later version must read it: don't
// change it.
func oldFile(t *testing.T) string {
	const id = "\x7f\xff\xff\xff\xff\xff\xff\xf9" // -7
	return newDatabase(t,
		[3]string{"meta", "format", "1"},
		[3]string{"ids", id, "alice"},
		[3]string{"plants", "\x05alice" + id,
			`{"name":"fern","created_at":"2026-01-02T03:04:05.678901234Z","unknown":["member"]}`})
}

func TestOldPlant(t *testing.T) {
	want := plants.Plant{ID: -7, Name: "fern"}
	plantstest.TestOldPlant(t, openTest(t, oldFile(t)), want)
}

// An owner too long for the length byte must not be mistaken for another owner.
func TestOwnerOutOfBounds(t *testing.T) {
	for _, owner := range []string{"", "a" + strings.Repeat("b", 256)} {
		func() {
			defer func() { recover() }()
			t.Errorf("owner of %d bytes: key %q", len(owner), ownerPrefix(owner))
		}()
	}
}

// Later versions must be able to read what this one writes.
func TestLayout(t *testing.T) {
	s := openTest(t, newPath(t))
	p := plants.Plant{ID: -2, Name: "é<\x00", Tag: new("")}
	noErr(t, s.Create(t.Context(), "al", p))
	noErr(t, s.db.View(func(tx *bbolt.Tx) error {
		const id = "\x7f\xff\xff\xff\xff\xff\xff\xfe"
		format, owner := tx.Bucket([]byte("meta")).Get([]byte("format")), tx.Bucket([]byte("ids")).Get([]byte(id))
		if string(format) != "1" || string(owner) != "al" {
			t.Errorf("format %q, owner %q", format, owner)
		}
		record := tx.Bucket([]byte("plants")).Get([]byte("\x02al" + id))
		want := regexp.MustCompile(`^{(?:.*,)?"name":"é<\\u0000",(?:.*,)?"tag":"",(?:.*,)?"created_at":"([^"]*Z)"[,}]`)
		match := append(want.FindStringSubmatch(string(record)), "", "")
		if at, err := time.Parse(time.RFC3339Nano, match[1]); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("record %s, %v", record, err)
		}
		return nil
	}))
}

// Damage to one plant leaves the others usable.
func TestDamagedPlant(t *testing.T) {
	s := openTest(t, newPath(t))
	noErr(t, s.Create(t.Context(), "alice", plantstest.Example(7)))
	noErr(t, s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(plantBucket).Put(appendID(ownerPrefix("alice"), 7), []byte(`{"name":7}`))
	}))
	_, _, err := s.List(t.Context(), "alice", nil, 1)
	for _, err := range []error{err, s.Create(t.Context(), "alice", plantstest.Example(7))} {
		mustSay(t, err, "the data file "+s.db.Path()+": the plant with id 7 is damaged: ")
	}
	noErr(t, s.Delete(t.Context(), "alice", 7))
	noErr(t, s.Create(t.Context(), "alice", plantstest.Example(7)))
}

// List ends a page after 512 KiB, since the server holds it until its client has read it. That is
// room for 100 plants of any size, as docs/interface.md says.
func TestPageSize(t *testing.T) {
	longest := strings.Repeat("\x01", plants.MaxNameLength)
	v, err := json.Marshal(&value{plants.Plant{Name: longest, Tag: &longest}, time.Now().UTC()})
	noErr(t, err)
	if 100*len(v) > pageSize {
		t.Errorf("100 of the largest plants have %d bytes, more than %d", 100*len(v), pageSize)
	}
	s := openTest(t, newPath(t))
	noErr(t, s.db.Update(func(tx *bbolt.Tx) error {
		for id := range int64(100) {
			long := fmt.Appendf(nil, `{"name":"%s"}`, strings.Repeat("x", 10<<10))
			if err := tx.Bucket(plantBucket).Put(appendID(ownerPrefix("alice"), id), long); err != nil {
				return err
			}
		}
		return nil
	}))
	page, more, err := s.List(t.Context(), "alice", nil, math.MaxInt32)
	if len(page) != 52 || !more || err != nil { // the first 51 have a little less than 512 KiB
		t.Errorf("got %d plants, more %t, %v, want 52 and more", len(page), more, err)
	}
}

// load creates n plants of owner, with consecutive ids from first, in one
// transaction.
func load(tb testing.TB, s *Store, owner string, first int64, n int) {
	tb.Helper()
	noErr(tb, s.db.Update(func(tx *bbolt.Tx) error {
		for id := first; id < first+int64(n); id++ {
			v, err := json.Marshal(&value{Plant: plantstest.Example(id)})
			noErr(tb, err)
			noErr(tb, tx.Bucket(plantIDBucket).Put(appendID(nil, id), []byte(owner)))
			noErr(tb, tx.Bucket(plantBucket).Put(appendID(ownerPrefix(owner), id), v))
		}
		return nil
	}))
}
