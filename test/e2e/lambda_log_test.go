package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/session"
)

// awaitLog waits until the log contains the text. An answer may arrive before the
// log line of its request.
func (f *function) awaitLog(t *testing.T, text string) {
	t.Helper()
	harness.Await(t, func() error {
		if log := f.Stdout.String(); !strings.Contains(log, text) {
			return fmt.Errorf("%s is missing in the log:\n%s", text, log)
		}
		return nil
	})
}

// All log lines from the first request on, including those of retries, have the ids
// of the trace and of the request in Lambda and API Gateway. None contains data of
// the client, not even its address, which API Gateway logs. Each request has one line of its own.
func TestLambdaLog(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t, "LOG_LEVEL=debug")
	u := f.user(t)
	// After the queries of the init and of the first request.
	proxy.Fail("Query", nil, nil, dynamolocal.Throttle, dynamolocal.Cut)
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "AccessDeniedException"))
	secret := plantstest.Example(7)
	secret.Name = "secret=x"
	traceID := regexp.MustCompile(`^1-[0-9a-f]+-[0-9a-f]+$`)
	var want, got []string // ids of API Gateway
	for _, exchange := range []struct {
		session.Request
		status int
	}{
		{u.Do("GET", "/plants"), 200},
		{u.Do("GET", "/plants?secret=x"), 200},
		{u.Do("POST", "/plants").Body(plantstest.CreateJSON(secret)), 500},
		{u.Do("GET", "/elsewhere?"+u.Token), 404},
		{u.Do("GET", "/plants").Header("Authorization", "Bearer "+u.Token), 401}, // a second one
	} {
		resp, body, err := exchange.Send()
		if err != nil || resp.StatusCode != exchange.status {
			t.Fatalf("got %s, %v, want status %d", body, err, exchange.status)
		}
		want = append(want, resp.Header.Get("Apigw-Requestid"))
	}
	f.Close() // which completes the log
	log := f.Stdout.String()
	for text := range strings.Lines(log) {
		var line struct {
			Msg          string
			RequestID    string `json:"request_id"`
			APIRequestID string `json:"apigw_request_id"`
			TraceID      string `json:"trace_id"`
		}
		json.Unmarshal([]byte(text), &line) // checkLog has the other rules
		started := got != nil || line.RequestID != ""
		hasIDs := line.RequestID != "" && slices.Contains(want, line.APIRequestID) && traceID.MatchString(line.TraceID)
		if started && !hasIDs {
			t.Errorf("missing or wrong id: %s", text)
		}
		if line.Msg == "request" {
			got = append(got, line.APIRequestID)
		}
	}
	retry := regexp.MustCompile(`"level":"DEBUG",.*"detail":"attempt failed: .*ProvisionedThroughputExceededException`)
	failure := regexp.MustCompile(`"level":"ERROR","msg":"request".*"status":500.*AccessDeniedException`)
	if !slices.Equal(got, want) || strings.Contains(log, "secret=x") || strings.Contains(log, "source_ip") ||
		!retry.MatchString(log) || !failure.MatchString(log) {
		t.Errorf("the log has the requests %q, want %q, and lines with the causes of a retry and of an error:\n%s",
			got, want, log)
	}
}
