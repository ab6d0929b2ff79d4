package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

func TestStore(t *testing.T) {
	plantstest.TestStore(t, func(t *testing.T) plants.Store { return openTest(t, newPath(t)) })
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "plants.db") }

// openTest opens the store at path until the test ends.
func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func create(t testing.TB, s *Store, owner string, p plants.Plant) {
	t.Helper()
	if err := s.Create(t.Context(), owner, p, plants.NewIdempotencyKey()); err != nil {
		t.Fatal(err)
	}
}

// list returns all plants of owner in the form "1 name tag".
func list(t testing.TB, s *Store, owner string) string {
	t.Helper()
	var all []string
	for q := (plants.Query{Limit: 100}); ; {
		page, err := s.List(t.Context(), owner, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Plants {
			text := fmt.Sprint(p.ID, " ", p.Name)
			if p.Tag != nil {
				text += fmt.Sprintf(" %q", *p.Tag)
			}
			all = append(all, text)
			q.After = &p.ID
		}
		if page.Next == nil {
			return strings.Join(all, ", ")
		}
	}
}

// A page is limited even if its query isn't.
func TestPageIsBounded(t *testing.T) {
	s := openTest(t, newPath(t))
	load(t, s, "alice", 0, maxPage+1)
	page, err := s.List(t.Context(), "alice", plants.Query{Limit: maxPage + 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Plants) != maxPage || page.Next == nil {
		t.Errorf("%d plants, next %v", len(page.Plants), page.Next)
	}
}

// An owner too long for its length byte must not be taken for another owner.
func TestOwnerOutOfBounds(t *testing.T) {
	s := openTest(t, newPath(t))
	create(t, s, "a", plants.Plant{ID: 1, Name: "rose"})
	for _, owner := range []string{"", strings.Repeat("a", 256), "a" + strings.Repeat("b", 256)} {
		err := s.Create(t.Context(), owner, plants.Plant{ID: 2, Name: "x"}, plants.NewIdempotencyKey())
		_, listErr := s.List(t.Context(), owner, plants.Query{Limit: 1})
		for _, err := range []error{err, listErr, s.Delete(t.Context(), owner, 1)} {
			if err == nil || !strings.Contains(err.Error(), "1 to 255 bytes") {
				t.Errorf("owner of %d bytes: %v", len(owner), err)
			}
		}
	}
	if got := list(t, s, "a"); got != "1 rose" {
		t.Errorf("a has %s", got)
	}
}

// A write whose context ends while it waits returns at once, and never happens
// if it hasn't started.
func TestContextEndsWhileWaiting(t *testing.T) {
	s := openTest(t, newPath(t))
	create(t, s, "alice", plants.Plant{ID: 1, Name: "rose"})
	tx, err := s.db.Begin(true) // all writes wait for this one
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	errs := make(chan error)
	go func() { errs <- s.Create(ctx, "alice", plants.Plant{ID: 2, Name: "ivy"}, plants.NewIdempotencyKey()) }()
	go func() { errs <- s.Delete(ctx, "alice", 1) }()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	create(t, s, "alice", plants.Plant{ID: 3, Name: "fern"}) // after them
	if got, want := list(t, s, "alice"), "1 rose, 3 fern"; got != want {
		t.Errorf("alice has %s, want %s", got, want)
	}
}

func TestClosed(t *testing.T) {
	s := openTest(t, newPath(t))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, listErr := s.List(t.Context(), "alice", plants.Query{Limit: 1})
	for _, err := range []error{
		s.Create(t.Context(), "alice", plants.Plant{ID: 1, Name: "x"}, plants.NewIdempotencyKey()),
		s.Delete(t.Context(), "alice", 1),
		listErr,
	} {
		if !errors.Is(err, plants.ErrUnreachable) || !strings.Contains(err.Error(), s.path) {
			t.Errorf("error %v, want %v and the file's name", err, plants.ErrUnreachable)
		}
	}
}

// A call that is concurrent with Close succeeds or fails, but never panics.
func TestCloseUnderLoad(t *testing.T) {
	s := openTest(t, newPath(t))
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			err := s.Create(t.Context(), "alice", plants.Plant{ID: int64(i), Name: "x"}, plants.NewIdempotencyKey())
			if err != nil && !errors.Is(err, plants.ErrUnreachable) {
				t.Error(err)
			}
			if _, err := s.List(t.Context(), "alice", plants.Query{Limit: 10}); err != nil && !errors.Is(err, plants.ErrUnreachable) {
				t.Error(err)
			}
		})
		if i == 100 {
			wg.Go(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
}
