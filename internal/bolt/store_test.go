package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

func TestStore(t *testing.T) {
	plantstest.TestStore(t, func(t *testing.T) plants.Store { return openTest(t, newPath(t)) })
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "plants.db") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openTest opens the store at path until the test ends.
func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func create(t testing.TB, s *Store, owner string, p plants.Plant) {
	t.Helper()
	must(t, s.Create(t.Context(), owner, p, plants.NewIdempotencyKey()))
}

// list returns owner's plants in the form "1 rose, 2 ivy".
func list(t testing.TB, s *Store, owner string) string {
	t.Helper()
	page, err := s.List(t.Context(), owner, plants.Query{Limit: 100})
	must(t, err)
	var all []string
	for _, p := range page.Plants {
		all = append(all, fmt.Sprint(p.ID, " ", p.Name))
	}
	return strings.Join(all, ", ")
}

// A page is limited even if its query isn't.
func TestPageIsBounded(t *testing.T) {
	s := openTest(t, newPath(t))
	load(t, s, "alice", 0, maxPage+1)
	page, err := s.List(t.Context(), "alice", plants.Query{Limit: maxPage + 1})
	if err != nil || len(page.Plants) != maxPage || page.Next == nil {
		t.Errorf("%d plants, next %v, %v", len(page.Plants), page.Next, err)
	}
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
	tx, err := s.db.Begin(true) // commits wait for this transaction
	must(t, err)
	defer tx.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = s.Create(ctx, "alice", plants.Plant{ID: 2, Name: "ivy"}, plants.NewIdempotencyKey())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A call during or after Close succeeds or fails, but never panics.
func TestClose(t *testing.T) {
	s := openTest(t, newPath(t))
	var calls sync.WaitGroup
	for i := range int64(200) {
		calls.Go(func() {
			err := s.Create(t.Context(), "alice", plants.Plant{ID: i, Name: "x"}, plants.NewIdempotencyKey())
			if err != nil && !errors.Is(err, plants.ErrUnreachable) && !errors.Is(err, plants.ErrUnwritable) {
				t.Error(err)
			}
			if _, err := s.List(t.Context(), "alice", plants.Query{Limit: 10}); err != nil && !errors.Is(err, plants.ErrUnreachable) {
				t.Error(err)
			}
		})
		if i == 100 {
			calls.Go(func() { _ = s.Close() })
		}
	}
	calls.Wait()
	if err := s.Delete(t.Context(), "alice", 1); !errors.Is(err, plants.ErrUnreachable) || !strings.Contains(err.Error(), "plants.db") {
		t.Errorf("error %v, want %v and the file's name", err, plants.ErrUnreachable)
	}
}

// Later versions must be able to read what this one writes.
func TestLayout(t *testing.T) {
	s := openTest(t, newPath(t))
	must(t, s.Create(t.Context(), "al", plants.Plant{ID: -2, Name: "é<\x00", Tag: new("")}, "key"))
	must(t, s.db.Update(func(tx *bbolt.Tx) error {
		const id = "\x7f\xff\xff\xff\xff\xff\xff\xfe"
		format, owner := tx.Bucket([]byte("meta")).Get([]byte("format")), tx.Bucket([]byte("ids")).Get([]byte(id))
		if string(format) != "1" || string(owner) != "al" {
			t.Errorf("format %q, owner %q", format, owner)
		}
		record := tx.Bucket([]byte("plants")).Get([]byte("\x02al" + id))
		want := regexp.MustCompile(`^{"name":"é<\\u0000","tag":"","created_at":"(.*Z)","write_token":"key"}$`)
		match := append(want.FindStringSubmatch(string(record)), "", "")
		if at, err := time.Parse(time.RFC3339Nano, match[1]); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("record %s, %v", record, err)
		}
		return nil
	}))
}

// A record of the first version, which every later one must read. Don't change it.
func TestOldRecord(t *testing.T) {
	s := openTest(t, newPath(t))
	must(t, s.db.Update(func(tx *bbolt.Tx) error {
		const id = "\x7f\xff\xff\xff\xff\xff\xff\xf9" // -7
		return errors.Join(
			tx.Bucket(idsBucket).Put([]byte(id), []byte("alice")),
			tx.Bucket(plantsBucket).Put([]byte("\x05alice"+id),
				[]byte(`{"name":"fern","created_at":"2026-01-02T03:04:05.678901234Z","write_token":"key"}`)))
	}))
	plantstest.TestOldRecord(t, s)
}

func TestDamagedRecord(t *testing.T) {
	s := openTest(t, newPath(t))
	create(t, s, "alice", plants.Plant{ID: 7, Name: "rose"})
	must(t, s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(plantsBucket).Put(appendID(ownerKey("alice"), 7), []byte(`{"name":7}`))
	}))
	_, err := s.List(t.Context(), "alice", plants.Query{Limit: 1})
	mustSay(t, err, "the record of plant 7 is damaged")
	must(t, s.Delete(t.Context(), "alice", 7))
}
