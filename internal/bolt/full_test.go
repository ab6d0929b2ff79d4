package bolt

import (
	"errors"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// fill creates plants of alice until the store has no space for another, and
// returns their number.
func fill(t *testing.T, s *Store) int64 {
	t.Helper()
	name := strings.Repeat("x", plants.MaxNameLength)
	for id := int64(0); ; id++ {
		err := s.Create(t.Context(), "alice", plants.Plant{ID: id, Name: name}, plants.NewWriteToken())
		if errors.Is(err, plants.ErrUnwritable) {
			if !strings.Contains(err.Error(), s.path) {
				t.Errorf("error %q does not name the file", err)
			}
			return id
		}
		if err != nil || id == 100_000 {
			t.Fatalf("plant %d: %v", id, err)
		}
	}
}

// mustHave fails the test unless alice's plants are those below n, possibly with
// n itself, whose creation failed.
func mustHave(t *testing.T, s *Store, n int64) {
	t.Helper()
	page, err := s.List(t.Context(), "alice", plants.Query{Limit: maxPage})
	if got := int64(len(page.Plants)); err != nil || got != n && got != n+1 {
		t.Fatalf("there are %d plants, want %d: %v", got, n, err)
	}
	for i, p := range page.Plants {
		if p.ID != int64(i) {
			t.Errorf("plant %d is missing", i)
		}
	}
}

// If a shared commit fails, all its writers get the error. A limit of the file's
// size simulates a full disk; package e2e fills a real one.
func TestFailedCommitAnswersAll(t *testing.T) {
	s := openTest(t, newPath(t))
	s.db.MaxSize = 128 << 10
	n := fill(t, s)
	errs := together(t, s, 20, func(i int64) error {
		// Two each of one id: the second is in use only if the first is stored.
		p := plants.Plant{ID: -1 - i/2, Name: strings.Repeat("x", 256), Tag: new(strings.Repeat("x", 256))}
		return s.Create(t.Context(), "bob", p, plants.NewWriteToken())
	})
	failed := 0
	for _, err := range errs {
		if errors.Is(err, plants.ErrUnwritable) {
			failed++
		} else if err != nil {
			t.Error(err)
		}
	}
	if failed < 19 { // the first has a commit of its own
		t.Errorf("%d of 20 creates failed", failed)
	}
	mustHave(t, s, n)
}
