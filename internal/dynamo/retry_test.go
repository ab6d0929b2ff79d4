package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/dynamolocal"
)

// A call returns when its context ends: before or during an attempt, or while it waits. It
// makes no further attempt, and its error says why the attempt before failed.
func TestContextEnds(t *testing.T) {
	type fault = func(cancel context.CancelFunc) dynamolocal.Fault
	hang := func(context.CancelFunc) dynamolocal.Fault { return dynamolocal.Hang }
	throttle := func(context.CancelFunc) dynamolocal.Fault { return dynamolocal.Throttle }
	cancelAndThrottle := func(cancel context.CancelFunc) dynamolocal.Fault {
		return func(r *http.Request) (*http.Response, error) {
			cancel()
			return dynamolocal.Throttle(r)
		}
	}
	const limit = 900 * time.Millisecond // less than the limit of an attempt
	ensureTable := operation{
		name:    "EnsureTable",
		request: "CreateTable",
		call: func(ctx context.Context, s plants.Store) error {
			return s.(*dynamo.Store).EnsureTable(ctx)
		},
	}
	for name, test := range map[string]struct {
		faults   []fault // of the attempts; the last one stays
		attempts int     // -1: any number
		want     error
		cause    string
		took     time.Duration
	}{
		"first attempt":    {[]fault{hang}, 1, context.DeadlineExceeded, "", limit},
		"second attempt":   {[]fault{throttle, hang}, 2, context.DeadlineExceeded, "ProvisionedThroughputExceeded", limit},
		"after an attempt": {[]fault{cancelAndThrottle}, 1, context.Canceled, "ProvisionedThroughputExceeded", 0},
		"while it waits":   {[]fault{throttle}, -1, context.DeadlineExceeded, "ProvisionedThroughputExceeded", limit},
		"before the call":  {[]fault{throttle}, 0, context.Canceled, "", 0},
	} {
		for _, op := range append(slices.Clone(operations), ensureTable) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if test.attempts == 0 {
					cancel()
				}
				attempts, start := 0, time.Now()
				dynamoDB := op.meets(func(r *http.Request) (*http.Response, error) {
					attempts++
					return test.faults[min(attempts, len(test.faults))-1](cancel)(r)
				})
				client := newOffline(t, aws.Config{RetryMaxAttempts: 1000}, dynamoDB)
				err := op.call(ctx, dynamo.New(client, "plants"))
				wantSentinel(t, op.name+", "+name, err, test.want)
				if !strings.Contains(fmt.Sprint(err), test.cause) {
					t.Errorf("%s, %s: error %q does not mention %s", op.name, name, err, test.cause)
				}
				if test.attempts >= 0 && attempts != test.attempts {
					t.Errorf("%s, %s: %d attempts, want %d", op.name, name, attempts, test.attempts)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("%s, %s: took %v, want %v", op.name, name, took, test.took)
				}
			})
		}
	}
}

// If the context ends together with a successful retry, the call has succeeded.
func TestContextEndsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		attempts := 0
		client := newOffline(t, aws.Config{}, func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				return dynamolocal.Throttle(r)
			}
			cancel()
			return dynamolocal.Reply(200, "{}")(r)
		})
		if err := create.call(ctx, dynamo.New(client, "plants")); err != nil {
			t.Error(err)
		}
	})
}

// If this machine's clock is wrong, DynamoDB rejects the signature. The call then uses the
// time of the response and succeeds, and later calls start with the right time.
func TestWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client := newOffline(t, aws.Config{}, func(r *http.Request) (*http.Response, error) {
			requests++
			now, respond := time.Now().Add(time.Hour), dynamolocal.Reply(200, "{}")
			signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
			if err != nil || now.Sub(signed).Abs() > 5*time.Minute {
				respond = dynamolocal.Refuse(400, "InvalidSignatureException")
			}
			resp, err := respond(r)
			resp.Header.Set("Date", now.UTC().Format(http.TimeFormat))
			return resp, err
		})
		store := dynamo.New(client, "plants")
		for _, op := range operations {
			if err := op.call(t.Context(), store); err != nil && !errors.Is(err, plants.ErrNotFound) {
				t.Errorf("%s: %v", op.name, err)
			}
		}
		if requests != 1+len(operations) {
			t.Errorf("%d requests, want one to find the time, and one for each of %d calls", requests, len(operations))
		}
	})
}

// A timeout is the error of an attempt that took too long.
type timeout struct{}

func (timeout) Error() string { return "timed out by a test" }
func (timeout) Timeout() bool { return true }

// All calls by a client share the SDK's budget of retries. A time-out costs no more of it than
// a refusal, and successes fill it again.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 30
		attempts, dynamoDB := 0, dynamolocal.Throttle
		client := newOffline(t, aws.Config{}, func(r *http.Request) (*http.Response, error) {
			attempts++
			return dynamoDB(r)
		})
		// retries returns the number of retries in the calls of several stores.
		retries := func() int {
			attempts = 0
			var err error
			for n := range calls {
				err = operations[n%len(operations)].call(t.Context(), dynamo.New(client, fmt.Sprint("table-", n)))
			}
			if !strings.Contains(fmt.Sprint(err), "retry quota exceeded") {
				t.Errorf("error %q doesn't say that the budget is spent", err)
			}
			return attempts - calls
		}
		budget := retries()
		if budget == 0 || budget == calls*5 {
			t.Errorf("%d retries in %d calls, want some", budget, calls)
		}
		slow := func(*http.Request) (*http.Response, error) { return nil, timeout{} }
		for _, fault := range []dynamolocal.Fault{dynamolocal.Throttle, slow} {
			dynamoDB = dynamolocal.Reply(200, "{}")
			for range 600 {
				if err := create.call(t.Context(), dynamo.New(client, "plants")); err != nil {
					t.Fatal(err)
				}
			}
			dynamoDB = fault
			if n := retries(); n != budget {
				t.Errorf("%d retries after successes, want %d again", n, budget)
			}
		}
	})
}
