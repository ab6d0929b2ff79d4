package dynamo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// The waits are random up to a bound that doubles, and together leave time for
// the answer to the client.
func TestBackoff(t *testing.T) {
	for attempt, most := range map[int]time.Duration{
		0: baseDelay, // how AWS_NEW_RETRIES_2026 counts
		1: baseDelay, 2: 2 * baseDelay, 3: 4 * baseDelay, 4: 8 * baseDelay, 5: maxDelay, 64: maxDelay, 1000: maxDelay,
	} {
		var longest time.Duration
		for range 1000 {
			d, err := backoff(attempt, nil)
			if err != nil || d < 0 || d >= most {
				t.Fatalf("after attempt %d: %v, %v, want less than %v", attempt, d, err, most)
			}
			longest = max(longest, d)
		}
		if longest < most/2 {
			t.Errorf("after attempt %d: at most %v of 1000, want up to %v", attempt, longest, most)
		}
	}
}

// When time runs out during a wait, the error says what was waited for.
func TestFailureNamesCause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := attempts{last: errors.New("ThrottlingException: slow down")}
	err := a.failure(ctx, errors.New("canceled"))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "slow down") {
		t.Errorf("got %v, want context.Canceled and the last attempt's error", err)
	}
	if err := a.failure(ctx, nil); err != nil {
		t.Errorf("got %v for success", err)
	}
}
