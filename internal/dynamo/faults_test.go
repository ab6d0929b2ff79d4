package dynamo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"

	"example.com/plantstore/internal/dynamo"
	plantlog "example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

func wrongChecksum(r *http.Request) (*http.Response, error) {
	resp, err := dynamolocal.Reply(200, "{}")(r)
	resp.Header.Set("X-Amz-Crc32", "1")
	return resp, err
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
		"no table":        {dynamolocal.Refuse(400, "ResourceNotFoundException"), nil, "restart the server", 1},
		"invalid":         {dynamolocal.Refuse(400, "ValidationException"), nil, "Validation", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var limit time.Duration
			if name == "no answer" {
				limit = 500 * time.Millisecond
			}
			store, proxy := newFaulty(t, limit)
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

// A call returns when its context ends, also during the delay before a retry.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
	eachOperation(func(op operation) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		proxy.Fail(op.request, dynamolocal.Hang)
		wantSentinel(t, op.name, op.call(ctx, store), context.DeadlineExceeded)

		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		proxy.Fail(op.request, func(r *http.Request) (*http.Response, error) {
			cancel()
			return dynamolocal.Throttle(r)
		})
		wantSentinel(t, op.name, op.call(ctx, store), context.Canceled)
		if got := proxy.Count(op.request); got != 2 {
			t.Errorf("%s: %d requests, want one of each call", op.name, got)
		}
	})
}

// Failed retries don't use up those of later calls.
func TestRetriesAfterOutage(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
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

// The SDK's messages are structured lines with the id of their request, and
// only faults of the service are warnings.
func TestLog(t *testing.T) {
	var lines bytes.Buffer
	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	client, err := dynamo.NewClient(aws.Config{BaseEndpoint: &proxy.URL}, plantlog.New(&lines, slog.LevelDebug))
	if err != nil {
		t.Fatal(err)
	}
	store := dynamo.New(client, table)
	ctx := plantlog.With(t.Context(), slog.String("request_id", "r-1"))

	proxy.Fail("PutItem", dynamolocal.Throttle)
	if err := create.call(ctx, store); err != nil {
		t.Fatal(err)
	}
	if want := `"level":"DEBUG","msg":"AWS SDK"`; !strings.Contains(lines.String(), want) {
		t.Errorf("%s is missing in:\n%s", want, &lines)
	}
	wantSentinel(t, "second Create", create.call(ctx, store), plants.ErrInUse)
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "InvalidSignatureException")) // whose message quotes the session token
	if err := create.call(ctx, store); err == nil || strings.Contains(fmt.Sprint(err, &lines), "refused by a test") {
		t.Errorf("wrong signature: %v, log:\n%s", err, &lines)
	}
	for line := range strings.Lines(lines.String()) {
		if !strings.Contains(line, `"request_id":"r-1"`) {
			t.Errorf("line without the request's id: %s", line)
		}
	}
	if strings.Contains(lines.String(), `"WARN"`) {
		t.Errorf("a warning about a failed condition:\n%s", &lines)
	}
	client.Options().Logger.Logf(logging.Warn, "clock off by %d s", 9)
	if want := `"level":"WARN","msg":"AWS SDK","detail":"clock off by 9 s"`; !strings.Contains(lines.String(), want) {
		t.Errorf("%s is missing in:\n%s", want, &lines)
	}
}
