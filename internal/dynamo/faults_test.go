package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

func wrongChecksum(x *dynamolocal.Exchange) {
	x.W.Header().Set("X-Amz-Crc32", "1")
	dynamolocal.Reply(200, "{}")(x)
}

// A lasting fault ends in the error that describes it.
func TestFaultLasts(t *testing.T) {
	for name, test := range map[string]struct {
		fault    dynamolocal.Fault
		want     error // nil: none that callers test for
		text     string
		requests int
	}{
		"throttled":       {dynamolocal.Throttle, plants.ErrThrottled, "ProvisionedThroughputExceeded", 6},
		"throttled, too":  {dynamolocal.Refuse(400, "ThrottlingException"), plants.ErrThrottled, "ThrottlingException", 6},
		"unavailable":     {dynamolocal.Unavailable, plants.ErrUnreachable, "ServiceUnavailable", 6},
		"connection cut":  {dynamolocal.Cut, plants.ErrUnreachable, "EOF", 6},
		"no answer":       {dynamolocal.Hang, plants.ErrUnreachable, "", 6}, // not the end of the caller's context
		"unreadable":      {dynamolocal.Garble, plants.ErrUnreachable, "deserialization failed", 6},
		"empty answer":    {dynamolocal.Reply(200, ""), plants.ErrUnreachable, "empty", 6},
		"no error code":   {dynamolocal.Reply(400, "{}"), plants.ErrUnreachable, "400", 6},
		"wrong checksum":  {wrongChecksum, plants.ErrUnreachable, "checksum", 6},
		"not implemented": {dynamolocal.Reply(http.StatusNotImplemented, "<html>"), plants.ErrUnreachable, "501", 6},
		"access denied":   {dynamolocal.Refuse(400, "AccessDeniedException"), nil, "AccessDenied", 1},
		"no table":        {dynamolocal.Refuse(400, "ResourceNotFoundException"), nil, "ResourceNotFound", 1},
		"invalid":         {dynamolocal.Refuse(400, "ValidationException"), nil, "Validation", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newImpatient(t)
			eachOperation(func(op operation) {
				proxy.Always(op.request, test.fault)
				err := op.call(t.Context(), store)
				wantSentinel(t, op.name, err, test.want)
				if err != nil && !strings.Contains(err.Error(), test.text) {
					t.Errorf("%s: error %q does not mention %q", op.name, err, test.text)
				}
				if got := proxy.Count(op.request); got != test.requests {
					t.Errorf("%s: %d requests, want %d", op.name, got, test.requests)
				}
			})
		})
	}
}

// A call returns when its context ends: before a request, during one, and
// during the delay before a retry.
func TestContextEnds(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newImpatient(t)

			proxy.Fail(op.request, dynamolocal.Hang)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			wantSentinel(t, "deadline", op.call(ctx, store), context.DeadlineExceeded)

			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			proxy.Fail(op.request, func(x *dynamolocal.Exchange) {
				dynamolocal.Throttle(x)
				cancel()
			})
			wantSentinel(t, "cancel", op.call(ctx, store), context.Canceled)
			wantSentinel(t, "ended", op.call(ctx, store), context.Canceled)
			if got := proxy.Count(op.request); got != 2 {
				t.Errorf("%d requests, want 1 for each of the first 2 calls", got)
			}
		})
	}
}

// Failed retries don't use up those of later calls.
func TestRetriesAfterOutage(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	proxy.Always("Query", dynamolocal.Throttle)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if err := list.call(t.Context(), store); !errors.Is(err, plants.ErrThrottled) {
				t.Errorf("got %v, want ErrThrottled", err)
			}
		})
	}
	wg.Wait()
	proxy.Always("Query", nil)
	proxy.Fail("Query", dynamolocal.Throttle)
	if err := list.call(t.Context(), store); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}
