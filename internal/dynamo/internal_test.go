package dynamo

import (
	"testing"
	"time"
)

// The delays before the retries are random, up to a limit that doubles.
func TestDelay(t *testing.T) {
	for attempt, limit := range map[int]time.Duration{
		0: firstDelay, 1: firstDelay, 2: 2 * firstDelay, 3: 4 * firstDelay, 4: 8 * firstDelay,
		5: maxDelay, 64: maxDelay, 1000: maxDelay,
	} {
		var longest time.Duration
		for range 1000 {
			d, err := delay(attempt, nil)
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
