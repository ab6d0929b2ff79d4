package plantstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// A call whose context was cancelled before does nothing.
func testCancelled(t *testing.T, s suite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testEnded(t, s, ctx)
}

// A call whose context has expired before does nothing.
func testExpired(t *testing.T, s suite) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	testEnded(t, s, ctx)
}

func testEnded(t *testing.T, s suite, ctx context.Context) {
	owner, all := randomOwner(), randomPlants(2)
	there, free := all[0], all[1]
	s.create(t, owner, there)
	s.deleteLater(t, owner, free.ID)

	if err := s.Create(ctx, owner, free, plants.NewWriteToken()); !errors.Is(err, ctx.Err()) {
		t.Errorf("Create: error %v, want %v", err, ctx.Err())
	}
	if err := s.Delete(ctx, owner, there.ID); !errors.Is(err, ctx.Err()) {
		t.Errorf("Delete: error %v, want %v", err, ctx.Err())
	}
	if _, err := s.List(ctx, owner, plants.Query{Limit: 10}); !errors.Is(err, ctx.Err()) {
		t.Errorf("List: error %v, want %v", err, ctx.Err())
	}

	s.has(t, owner, nil, 10, there)
	// List may lag, but these see what was written: nothing.
	s.mustAnswer(t, plants.ErrInUse, owner, there, plants.NewWriteToken())
	s.mustAnswer(t, nil, owner, free, plants.NewWriteToken())
}
