package dynamo

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/logging"
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
	err := a.failure(ctx, errors.New("canceled"))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "slow down") {
		t.Errorf("got %v, want context.Canceled and the last attempt's error", err)
	}
}

// An error need not have an answer: without credentials, no request is sent.
func TestFailureWithoutAnswer(t *testing.T) {
	want := errors.New("no credentials")
	if err := new(attempts).failure(t.Context(), want); err != want || refused(want) {
		t.Errorf("got %v, refused %t", err, refused(want))
	}
}

func TestSDKWarning(t *testing.T) {
	var out bytes.Buffer
	sdkLogger{t.Context(), slog.New(slog.NewTextHandler(&out, nil))}.Logf(logging.Warn, "clock off by %d s", 9)
	if want := `level=WARN msg="AWS SDK" detail="clock off by 9 s"`; !strings.Contains(out.String(), want) {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestTimestamp(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 67_890_000, time.FixedZone("", 3600))
	if got, want := timestamp(at), "2026-01-02T02:04:05.067Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
