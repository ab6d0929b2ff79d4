package dynamo_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"

	"example.com/plantstore/internal/dynamo"
	plantlog "example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
	"example.com/plantstore/test/dynamolocal"
)

// faults are the faults of a request, and what a call that meets them ends in.
var faults = map[string]struct {
	fault    dynamolocal.Fault
	requests int   // of the call
	want     error // nil: none that callers test for
	text     string
}{
	"throttled":                        {dynamolocal.Throttle, 3, records.ErrThrottled, "ProvisionedThroughputExceeded"},
	"throttled with a server's status": {dynamolocal.Refuse(503, "ThrottlingException"), 3, records.ErrThrottled, "ThrottlingException"},
	"transaction on the same item":     {dynamolocal.Refuse(400, "TransactionConflictException"), 3, records.ErrThrottled, "TransactionConflict"},
	"wrong clock":                      {dynamolocal.Refuse(400, "RequestTimeout"), 3, nil, "RequestTimeout"},
	"server error":                     {dynamolocal.Refuse(500, "InternalServerError"), 3, records.ErrUnreachable, "InternalServerError"},
	"connection cut":                   {dynamolocal.Cut, 3, records.ErrUnreachable, "EOF"},
	"no response":                      {dynamolocal.Hang, 3, records.ErrUnreachable, "Client.Timeout"},
	"response stalled":                 {stall, 3, records.ErrUnreachable, "Client.Timeout"},
	"response truncated":               {truncate, 3, records.ErrUnreachable, "deserialization failed"},
	"unreadable":                       {dynamolocal.Reply(200, "<html>Welcome</html>"), 3, records.ErrUnreachable, "deserialization failed"},
	"wrong checksum":                   {wrongChecksum, 3, records.ErrUnreachable, "checksum"},
	"empty response":                   {dynamolocal.Reply(200, ""), 3, records.ErrUnreachable, "empty"},
	"redirect":                         {dynamolocal.Reply(300, ""), 3, records.ErrUnreachable, "StatusCode: 300"},
	"no error code":                    {dynamolocal.Reply(400, "{}"), 3, records.ErrUnreachable, "StatusCode: 400"},
	"not implemented":                  {dynamolocal.Refuse(501, "NotImplemented"), 3, records.ErrUnreachable, "StatusCode: 501"},
	"access denied":                    {dynamolocal.Refuse(400, "AccessDeniedException"), 1, nil, "AccessDenied"},
	"no table":                         {dynamolocal.Refuse(400, "ResourceNotFoundException"), 1, nil, "restart the server"},
	"invalid":                          {dynamolocal.Refuse(400, "ValidationException"), 1, nil, "Validation"},
}

func wrongChecksum(r *http.Request) (*http.Response, error) {
	resp, err := dynamolocal.Reply(200, "{}")(r)
	resp.Header.Set("X-Amz-Crc32", "1")
	return resp, err
}

// truncate doesn't send the last byte of a response.
func truncate(r *http.Request) (*http.Response, error) {
	resp, err := dynamolocal.Reply(200, "{}")(r)
	resp.Header.Set("Content-Length", "3")
	return resp, err
}

// stall stops before the last byte of a response until the client gives up.
func stall(r *http.Request) (*http.Response, error) {
	resp, err := truncate(r)
	silent, end := io.Pipe()
	context.AfterFunc(r.Context(), func() { end.Close() })
	resp.Body = io.NopCloser(io.MultiReader(resp.Body, silent))
	return resp, err
}

// A lasting fault ends in the error that describes it.
func TestFaultLasts(t *testing.T) {
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t, 500*time.Millisecond)
			eachOperation(func(op operation) {
				proxy.Always(op.request, test.fault)
				err := op.call(t.Context(), store)
				wantSentinel(t, op.name, err, test.want)
				if !strings.Contains(fmt.Sprint(err), test.text) {
					t.Errorf("%s: error %q does not mention %q", op.name, err, test.text)
				}
				if got := proxy.Count(op.request); got != test.requests {
					t.Errorf("%s: %d requests, want %d", op.name, got, test.requests)
				}
			})
		})
	}
}

// A call returns when its context ends, and makes no other request.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 5*time.Second) // ends a call that ignores its context
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

// A call whose context ends while it waits for a retry returns too. Its error names the
// reason for the retry.
func TestContextEndsBeforeRetry(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, "http://127.0.0.1:1") // where nobody listens
	client, err := dynamo.NewClient(aws.Config{BaseEndpoint: &proxy.URL, RetryMaxAttempts: 1000}, discard)
	if err != nil {
		t.Fatal(err)
	}
	store := dynamo.New[plants.Plant](client, "plants")
	eachOperation(func(op operation) {
		proxy.Always(op.request, dynamolocal.Throttle)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := op.call(ctx, store)
		wantSentinel(t, op.name, err, context.DeadlineExceeded)
		if want := "ProvisionedThroughputExceeded"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: error %q does not mention %s", op.name, err, want)
		}
	})
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
	store := dynamo.New[plants.Plant](client, table)
	ctx := plantlog.With(t.Context(), slog.String("request_id", "r-1"))

	proxy.Fail("PutItem", dynamolocal.Throttle)
	if err := create.call(ctx, store); err != nil {
		t.Fatal(err)
	}
	if want := `"level":"DEBUG","msg":"AWS SDK"`; !strings.Contains(lines.String(), want) {
		t.Errorf("%s is missing in:\n%s", want, &lines)
	}
	wantSentinel(t, "second Create", store.Create(ctx, "alice", fern, "another key"), records.ErrInUse)
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
