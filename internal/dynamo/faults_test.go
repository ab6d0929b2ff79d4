package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// The faults that carry a request out without the client's knowing.
var losses = map[string]dynamolocal.Fault{
	"connection cut":        dynamolocal.Lose,
	"answer too late":       dynamolocal.LoseSlowly,
	"answer cut":            dynamolocal.Truncate,
	"answer stops":          dynamolocal.Stall,
	"server error after it": dynamolocal.BreakAfter,
	"answer unreadable": func(x *dynamolocal.Exchange) {
		x.Forward()
		dynamolocal.Garble(x)
	},
}

// What was carried out is reported as carried out, once, when the answer of the
// first attempt was lost.
func TestAnswerLost(t *testing.T) {
	for name, fault := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)
			proxy.Fail("PutItem", fault)
			proxy.Fail("DeleteItem", fault)

			if err := store.Create(t.Context(), "alice", fern, plants.NewWriteToken()); err != nil {
				t.Errorf("Create: %v", err)
			}
			wantPlants(t, store, fern)
			if err := store.Delete(t.Context(), "alice", fern.ID); err != nil {
				t.Errorf("Delete: %v", err)
			}
			wantPlants(t, store)
			if err := store.Delete(t.Context(), "alice", fern.ID); !errors.Is(err, plants.ErrNotFound) {
				t.Errorf("Delete once more: %v, want ErrNotFound", err)
			}

			if puts, deletes := proxy.Count("PutItem"), proxy.Count("DeleteItem"); puts < 2 || deletes < 3 {
				t.Errorf("%d PutItem and %d DeleteItem, want 2 and 3: the faults were not met", puts, deletes)
			}
		})
	}
}

// A few faults in a row are not seen by the caller.
func TestRetried(t *testing.T) {
	for name, faults := range map[string][]dynamolocal.Fault{
		"throttled":        {dynamolocal.Throttle, dynamolocal.Refuse(400, "ThrottlingException")},
		"unavailable":      {dynamolocal.Unavailable, dynamolocal.Unavailable},
		"connection cut":   {dynamolocal.Cut, dynamolocal.Cut},
		"no answer":        {dynamolocal.Hang},
		"unreadable":       {dynamolocal.Garble, dynamolocal.Garble},
		"gateway's answer": {gateway(http.StatusBadGateway), gateway(http.StatusGatewayTimeout)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)
			for _, op := range operations {
				proxy.Fail(op.request, faults...)
				if err := op.call(t.Context(), store); err != nil {
					t.Errorf("%s: %v", op.name, err)
				}
				if got, want := proxy.Count(op.request), len(faults)+1; got < want {
					t.Errorf("%s: %d requests, want %d: the faults were not met", op.name, got, want)
				}
			}
		})
	}
}

func gateway(status int) dynamolocal.Fault {
	return func(x *dynamolocal.Exchange) { http.Error(x.W, "<html>", status) }
}

// A fault that lasts ends in the sentinel that says what it is.
func TestFaultLasts(t *testing.T) {
	for _, test := range []struct {
		name     string
		fault    dynamolocal.Fault
		want     error // nil: none of the sentinels
		text     string
		requests int
	}{
		{"throttled", dynamolocal.Throttle, plants.ErrThrottled, "ProvisionedThroughputExceeded", 6},
		{"account throttled", dynamolocal.Refuse(400, "RequestLimitExceeded"), plants.ErrThrottled, "RequestLimitExceeded", 6},
		{"unavailable", dynamolocal.Unavailable, plants.ErrUnreachable, "ServiceUnavailable", 6},
		{"connection cut", dynamolocal.Cut, plants.ErrUnreachable, "EOF", 6},
		{"unreadable", dynamolocal.Garble, plants.ErrUnreachable, "deserialization failed", 6},
		{"not implemented", gateway(http.StatusNotImplemented), plants.ErrUnreachable, "501", 6},
		{"access denied", dynamolocal.Refuse(400, "AccessDeniedException"), nil, "AccessDenied", 1},
		{"no table", dynamolocal.Refuse(400, "ResourceNotFoundException"), nil, "ResourceNotFound", 1},
		{"invalid", dynamolocal.Refuse(400, "ValidationException"), nil, "Validation", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)
			atOnce(func(op operation) {
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

// An attempt that times out is no end of the request's own time.
func TestAttemptsTimeOut(t *testing.T) {
	t.Parallel()
	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	cfg := dynamolocal.Config(proxy.URL)
	cfg.RetryMaxAttempts = 2 // as AWS_MAX_ATTEMPTS sets it
	client, err := dynamo.NewClientFromConfig(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := dynamo.New(client, table)
	atOnce(func(op operation) {
		proxy.Always(op.request, dynamolocal.Hang)
		wantSentinel(t, op.name, op.call(t.Context(), store), plants.ErrUnreachable)
		if got := proxy.Count(op.request); got != 2 {
			t.Errorf("%s: %d requests, want 2", op.name, got)
		}
	})
}

// A call ends with its context: while it waits for an answer, and while it
// waits to try again.
func TestContextEnds(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)

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

			if got := len(proxy.Calls()); got != 2 {
				t.Errorf("%d requests, want 1 for each of 2 calls", got)
			}
			wantSentinel(t, "ended", op.call(ctx, store), context.Canceled)
			if got := len(proxy.Calls()); got != 2 {
				t.Error("a call whose context had ended sent a request")
			}
		})
	}
}

func TestConnectionsCutBetweenCalls(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	for id := range int64(10) {
		p := plants.Plant{ID: id, Name: "fern"}
		if err := store.Create(t.Context(), "alice", p, plants.NewWriteToken()); err != nil {
			t.Fatal(err)
		}
		proxy.CutConnections()
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	// Port 1 is reserved for a service that nobody runs (RFC 1078).
	store := dynamo.New(dynamolocal.Client(t, "http://127.0.0.1:1"), "plants")
	atOnce(func(op operation) {
		wantSentinel(t, op.name, op.call(t.Context(), store), plants.ErrUnreachable)
	})
}

// Retries that failed don't count against later calls.
func TestFaultLeavesNoTrace(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	proxy.Always("Query", dynamolocal.Throttle)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if err := list.call(t.Context(), store); !errors.Is(err, plants.ErrThrottled) {
				t.Errorf("List: %v, want ErrThrottled", err)
			}
		})
	}
	wg.Wait()
	proxy.Always("Query", nil)
	proxy.Fail("Query", dynamolocal.Throttle)
	if err := list.call(t.Context(), store); err != nil {
		t.Errorf("List: %v", err)
	}
}
