package bolt

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
	"example.com/plantstore/internal/records/recordstest"
)

// All resources share one file.
func TestStore(t *testing.T) {
	file := openTest(t, newPath(t)).file
	t.Run("plants", func(t *testing.T) { testStore(t, recordstest.Plants(), file, "ids", "plants") })
	t.Run("samples", func(t *testing.T) { testStore(t, recordstest.Samples(), file, "sample_ids", "samples") })
}

func testStore[T records.Fields](t *testing.T, examples []T, file *File, idBucket, recordBucket string) {
	recordstest.TestStore(t, examples, func(*testing.T) records.Store[T] { return NewStore[T](file, idBucket, recordBucket) })
}

type plantRecords = Store[plants.Plant]

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "plants.db") }

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openTest opens the store of plants in the file at path until the test ends.
func openTest(t testing.TB, path string) *plantRecords {
	t.Helper()
	file, err := Open(path)
	noErr(t, err)
	t.Cleanup(func() { noErr(t, file.Close()) })
	return NewStore[plants.Plant](file, "ids", "plants")
}

func rose(id int64) records.Record[plants.Plant] {
	return records.Record[plants.Plant]{ID: id, Fields: plants.Plant{Name: "rose", Tag: new("garden")}}
}

// oldFile returns a file of the first version, which every later one must read. Don't
// change it.
func oldFile(t *testing.T) string {
	const id = "\x7f\xff\xff\xff\xff\xff\xff\xf9" // -7
	return newDatabase(t, [3]string{"meta", "format", "1"}, [3]string{"ids", id, "alice"}, [3]string{"plants", "\x05alice" + id,
		`{"name":"fern","created_at":"2026-01-02T03:04:05.678901234Z","write_token":"key"}`})
}

func TestOldRecord(t *testing.T) {
	want := records.Record[plants.Plant]{ID: -7, Fields: plants.Plant{Name: "fern"}}
	recordstest.TestOldRecord(t, openTest(t, oldFile(t)), want)
}

// A file without the buckets of a resource, which is newer, has no records of it. The
// first one makes the buckets.
func TestNewResource(t *testing.T) {
	s := NewStore[recordstest.Sample](openTest(t, oldFile(t)).file, "sample_ids", "samples")
	for want := range 2 {
		page, err := s.List(t.Context(), "alice", records.Query{Limit: 10})
		if err != nil || len(page.Records) != want {
			t.Errorf("%v, %v, want %d records", page, err, want)
		}
		if err := s.Delete(t.Context(), "alice", -7); !errors.Is(err, records.ErrNotFound) {
			t.Error(err)
		}
		noErr(t, s.Create(t.Context(), "alice", records.Record[recordstest.Sample]{ID: int64(want)}, "key"))
	}
}

// A page is limited even if its query isn't.
func TestPageIsBounded(t *testing.T) {
	s := openTest(t, newPath(t))
	load(t, s, "alice", 0, 2*maxPage)
	page, err := s.List(t.Context(), "alice", records.Query{Limit: 2 * maxPage})
	if err != nil || len(page.Records) != maxPage || page.Next == nil {
		t.Errorf("%d plants, next %v, %v", len(page.Records), page.Next, err)
	}
}

// The store doesn't lose fields to its own members.
func TestFieldOfReservedName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("NewStore accepted a field with the name write_token")
		}
	}()
	NewStore[struct {
		Token string `json:"write_token"`
	}](nil, "ids", "plants")
}

// An owner too long for its length byte must not be taken for another owner.
func TestOwnerOutOfBounds(t *testing.T) {
	for _, owner := range []string{"", "a" + strings.Repeat("b", 256)} {
		func() {
			defer func() { recover() }()
			t.Errorf("owner of %d bytes: key %q", len(owner), ownerKey(owner))
		}()
	}
}

// A write whose context ends while it waits for a commit returns at once.
func TestContextEndsWhileWaiting(t *testing.T) {
	s := openTest(t, newPath(t))
	s.file.committing.Lock() // stands for a commit in progress
	defer s.file.committing.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Create(ctx, "alice", rose(2), "key"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Later versions must be able to read what this one writes.
func TestLayout(t *testing.T) {
	s := openTest(t, newPath(t))
	r := records.Record[plants.Plant]{ID: -2, Fields: plants.Plant{Name: "é<\x00", Tag: new("")}}
	noErr(t, s.Create(t.Context(), "al", r, "key"))
	noErr(t, s.file.db.View(func(tx *bbolt.Tx) error {
		const id = "\x7f\xff\xff\xff\xff\xff\xff\xfe"
		format, owner := tx.Bucket([]byte("meta")).Get([]byte("format")), tx.Bucket([]byte("ids")).Get([]byte(id))
		if string(format) != "1" || string(owner) != "al" {
			t.Errorf("format %q, owner %q", format, owner)
		}
		record := tx.Bucket([]byte("plants")).Get([]byte("\x02al" + id))
		want := regexp.MustCompile(`^{(?:.*,)?"name":"é<\\u0000",(?:.*,)?"tag":"",(?:.*,)?"created_at":"([^"]*Z)","write_token":"key"[,}]`)
		match := append(want.FindStringSubmatch(string(record)), "", "")
		if at, err := time.Parse(time.RFC3339Nano, match[1]); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("record %s, %v", record, err)
		}
		return nil
	}))
}

// Damage to one record leaves the others usable.
func TestDamagedRecord(t *testing.T) {
	s := openTest(t, newPath(t))
	noErr(t, s.Create(t.Context(), "alice", rose(7), "key"))
	noErr(t, s.file.db.Update(func(tx *bbolt.Tx) error {
		stored := tx.Bucket([]byte("plants"))
		return errors.Join(stored.Put(ownerKey("bob"), []byte("{}")), stored.Put(appendID(ownerKey("alice"), 7), []byte(`{"name":7}`)))
	}))
	for owner, want := range map[string]string{"alice": "the record with id 7", "bob": "a key has 4 bytes"} {
		_, err := s.List(t.Context(), owner, records.Query{Limit: 1})
		mustSay(t, err, "the data file "+s.file.path+": it is damaged: "+want, "restore a backup")
	}
	mustSay(t, s.Create(t.Context(), "alice", rose(7), "key"), s.file.path, "it is damaged: the record with id 7")
	noErr(t, s.Delete(t.Context(), "alice", 7))
	noErr(t, s.Create(t.Context(), "alice", rose(7), "key"))
}
