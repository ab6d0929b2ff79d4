package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/tools"
)

// awaitLog waits until the log contains the text. An answer may arrive before the
// log line of its request.
func (f *function) awaitLog(t *testing.T, text string) {
	t.Helper()
	tools.Await(t, func() error {
		if log := f.Stdout.String(); !strings.Contains(log, text) {
			return fmt.Errorf("%s is missing in the log:\n%s", text, log)
		}
		return nil
	})
}

// All log lines of a request, including those of the SDK, have the ids of the
// trace and of the request in Lambda and API Gateway, and none contains data of the client.
func TestLambdaLog(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t, "LOG_LEVEL=debug")
	u := f.user()
	proxy.Fail("Query", nil, nil, dynamolocal.Throttle, dynamolocal.Cut) // after those of the init and of the first request
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "AccessDeniedException"))
	var ids []string // of API Gateway
	for _, r := range []request{
		{Method: "GET", Target: "/plants"},
		{Method: "GET", Target: "/plants?secret=x"},
		{Method: "POST", Target: "/plants", Body: `{"id": 1, "name": "Rosemary"}`},
		{Method: "GET", Target: "/elsewhere?" + u.token},
		{Method: "GET", Target: "/plants", Header: []string{"Authorization", "Bearer " + u.token}}, // a second one
	} {
		a, err := u.send(t, r)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.header.Get("Apigw-Requestid"))
	}
	f.Close() // which completes the log
	log := f.Stdout.String()
	for _, want := range []string{`"level":"DEBUG","msg":"AWS SDK"`, `"level":"ERROR","msg":"request"`, `"status":500`, "AccessDeniedException"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is missing in the log:\n%s", want, log)
		}
	}
	for _, text := range []string{"secret=x", "Rosemary"} {
		if strings.Contains(log, text) {
			t.Errorf("the log contains %q", text)
		}
	}
	checkIDs(t, log, ids)
}

// checkIDs checks that all lines from the first request on have all ids, and that
// each request has one line, in the order of the given ids of API Gateway.
func checkIDs(t *testing.T, log string, ids []string) {
	t.Helper()
	var requests []string
	seen := false // a line of a request
	for text := range strings.Lines(log) {
		var line struct {
			Msg          string
			RequestID    string `json:"request_id"`
			APIRequestID string `json:"apigw_request_id"`
			TraceID      string `json:"trace_id"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		seen = seen || line.RequestID+line.APIRequestID != ""
		if seen && (line.RequestID == "" || !slices.Contains(ids, line.APIRequestID) || !strings.HasPrefix(line.TraceID, "1-")) {
			t.Errorf("missing or wrong id: %s", text)
		}
		if line.Msg == "request" {
			requests = append(requests, line.APIRequestID)
		}
	}
	if !slices.Equal(requests, ids) {
		t.Errorf("the log has the requests %q, want %q:\n%s", requests, ids, log)
	}
}
