package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The program ends within 15 s of a signal, even if the store can't be closed, and says so.
func TestStoreCannotBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, stderr := time.Now(), new(strings.Builder)
		store := &storage{close: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		store.end(stderr)
		if took := time.Since(start); drainTimeout+took > 15*time.Second || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("after %v it prints %q, want one line after 5 s", took, stderr)
		}
	})
}
