package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The program ends within 15 seconds of a signal, even if the store can't be closed, and says so.
func TestStoreCannotBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, signal := context.WithCancel(t.Context())
		limit, cancel := stopLimit(ctx)
		defer cancel()
		time.Sleep(time.Hour)
		signal()
		start, stderr := time.Now(), new(strings.Builder)
		time.Sleep(9 * time.Second) // for requests in flight
		store := &storage{close: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		store.end(limit, stderr)
		if took := time.Since(start); took != 15*time.Second || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("after %v it prints %q, want one line after 15 s", took, stderr)
		}
	})
}
