package dynamo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// The delays are random up to a limit that doubles.
func TestBackoff(t *testing.T) {
	for attempt, limit := range map[int]time.Duration{
		0: baseDelay, // the first, if AWS_NEW_RETRIES_2026 is set
		1: baseDelay, 2: 2 * baseDelay, 3: 4 * baseDelay, 4: 8 * baseDelay, 5: maxDelay, 64: maxDelay, 1000: maxDelay,
	} {
		var longest time.Duration
		for range 1000 {
			d, err := backoff(attempt, nil)
			if err != nil || d < 0 || d >= limit {
				t.Fatalf("after attempt %d: %v, %v, want less than %v", attempt, d, err, limit)
			}
			longest = max(longest, d)
		}
		if longest < limit/2 {
			t.Errorf("after attempt %d: none of 1000 delays is over %v, want up to %v", attempt, longest, limit)
		}
	}
}

// If ctx ends during a delay, the error has the reason for the retry.
func TestFailureHasReason(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := attempts{last: errors.New("ThrottlingException: slow down")}
	if err := a.failure(ctx, errors.New("canceled")); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "slow down") {
		t.Errorf("got %v, want context.Canceled and the last attempt's error", err)
	}
}

func TestTimestamp(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60_890_000, time.FixedZone("", 3600))
	if got, want := timestamp(at), "2026-01-02T02:04:05.060Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
