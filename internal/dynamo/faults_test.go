package dynamo_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/plantstore/internal/dynamo"
	plantlog "example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/dynamolocal"
)

// faults are the faults of a request, and the error of a call that meets them.
var faults = map[string]struct {
	fault    dynamolocal.Fault
	requests int   // of the call
	want     error // nil if it is an error that callers don't test for
	text     string
}{
	"throttled": {dynamolocal.Throttle, 3, plants.ErrThrottled, "ProvisionedThroughputExceeded"},
	"throttled with a server's status": {dynamolocal.Refuse(503, "ThrottlingException"),
		3, plants.ErrThrottled, "ThrottlingException"},
	"request time-out": {dynamolocal.Refuse(400, "RequestTimeout"), 3, plants.ErrUnreachable, "RequestTimeout"},
	"server error": {dynamolocal.Refuse(500, "InternalServerError"),
		3, plants.ErrUnreachable, "InternalServerError"},
	"connection cut":     {dynamolocal.Cut, 3, plants.ErrUnreachable, "EOF"},
	"response truncated": {truncate, 3, plants.ErrUnreachable, "deserialization failed"},
	"no error code":      {dynamolocal.Reply(400, "{}"), 3, plants.ErrUnreachable, "StatusCode: 400"},
	"conflict with a replica": {dynamolocal.Refuse(400, "ReplicatedWriteConflictException"),
		3, plants.ErrUnreachable, "ReplicatedWriteConflict"},
	"conflict with a transaction": {dynamolocal.Refuse(400, "TransactionConflictException"),
		3, plants.ErrUnreachable, "TransactionConflict"},
	"access denied": {dynamolocal.Refuse(400, "AccessDeniedException"), 1, nil, "AccessDenied"},
	"no table":      {dynamolocal.Refuse(400, "ResourceNotFoundException"), 1, nil, "restart the server"},
	"invalid":       {dynamolocal.Refuse(400, "ValidationException"), 1, nil, "Validation"},
}

// truncate doesn't send the last byte of a response.
func truncate(r *http.Request) (*http.Response, error) {
	resp, err := dynamolocal.Reply(200, "{}")(r)
	resp.Header.Set("Content-Length", "3")
	return resp, err
}

// A lasting fault leads to the error that describes it.
func TestFaultLasts(t *testing.T) {
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)
			put(t, store, "alice", fern) // Delete reads it first
			for _, op := range operations {
				before := proxy.Count(op.request)
				proxy.Always(op.request, test.fault)
				err := op.call(t.Context(), store)
				wantSentinel(t, op.name, err, test.want)
				if !strings.Contains(fmt.Sprint(err), test.text) {
					t.Errorf("%s: error %q does not mention %q", op.name, err, test.text)
				}
				if got := proxy.Count(op.request) - before; got != test.requests {
					t.Errorf("%s: %d requests, want %d", op.name, got, test.requests)
				}
				proxy.Always(op.request, nil)
			}
		})
	}
}

// The SDK's messages are logged as structured lines with the id of their request. Failed
// attempts are logged at level debug, and a failed condition is not a warning.
func TestLog(t *testing.T) {
	var lines bytes.Buffer
	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	client, err := dynamo.NewClient(aws.Config{BaseEndpoint: &proxy.URL}, plantlog.New(&lines, slog.LevelDebug))
	if err != nil {
		t.Fatal(err)
	}
	dynamo.Transport(client).ResponseHeaderTimeout = 0 // a busy machine may be slow
	store := dynamo.New(client, table)
	ctx := plantlog.With(t.Context(), slog.String("request_id", "r-1"))

	proxy.Fail("PutItem", dynamolocal.Throttle)
	if err := create.call(ctx, store); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`"level":"DEBUG","msg":"AWS SDK",` +
		`"detail":"attempt failed: .*ProvisionedThroughputExceededException.*","request_id":"r-1"`)
	if !want.MatchString(lines.String()) {
		t.Errorf("want a line with the cause of the retry:\n%s", &lines)
	}
	wantSentinel(t, "second Create", store.Create(ctx, "bob", fern), plants.ErrInUse)
	for line := range strings.Lines(lines.String()) {
		if !strings.Contains(line, `"request_id":"r-1"`) {
			t.Errorf("line without the request's id: %s", line)
		}
	}
	if strings.Contains(lines.String(), `"WARN"`) {
		t.Errorf("a warning about a failed condition:\n%s", &lines)
	}
	lines.Reset()
	proxy.Fail("Query", func(r *http.Request) (*http.Response, error) {
		resp, err := dynamolocal.Reply(200, "{}")(r)
		resp.Header.Set("Date", "yesterday") // the SDK needs it for its clock
		return resp, err
	})
	if err := list.call(ctx, store); err != nil {
		t.Fatal(err)
	}
	want = regexp.MustCompile(`"level":"WARN","msg":"AWS SDK","detail":".*Date header.*yesterday.*"request_id":"r-1"`)
	if !want.MatchString(lines.String()) {
		t.Errorf("a warning from the SDK is missing:\n%s", &lines)
	}
}
