package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/dynamolocal"
)

// awaitLog returns the log once it holds the text. What a process has written
// takes a moment to get here, so an answer may be faster.
func (f *function) awaitLog(t *testing.T, text string) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		log := f.Stdout()
		if strings.Contains(log, text) {
			return log
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log does not hold %s:\n%s", text, log)
		}
	}
}

// All lines of a request carry the ids by which Lambda and API Gateway know it,
// those of the SDK included, and none holds what is the client's own.
func TestLambdaLog(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t, "LOG_LEVEL=debug")
	c := f.lagging()
	token := newUser(t, c)
	proxy.Fail("Query", nil, nil, dynamolocal.Throttle, dynamolocal.Cut) // after those of the init and of the first request
	proxy.Fail("PutItem", dynamolocal.Refuse(400, "AccessDeniedException"))
	var ids []string // API Gateway's, in order
	for _, r := range []request{
		{"GET", "/plants", bearer(token), nil},
		{"GET", "/plants?secret=x", bearer(token), nil},
		{"POST", "/plants", bearer(token), []byte(`{"id": 1, "name": "Rosemary"}`)},
		{"GET", "/elsewhere?" + token, bearer(token), nil},
		{"GET", "/plants", bearer(token + "x"), nil},
	} {
		a, err := c.send(t, r)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.header.Get("Apigw-Requestid"))
		f.awaitLog(t, ids[len(ids)-1])
	}
	log := f.Stdout()
	for _, want := range []string{`"level":"DEBUG","msg":"AWS SDK"`, `"level":"ERROR","msg":"request"`, `"status":500`, "AccessDeniedException"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not hold %q:\n%s", want, log)
		}
	}
	for _, text := range []string{"secret=x", "Rosemary", token} {
		if strings.Contains(log, text) {
			t.Errorf("the log holds %q", text)
		}
	}
	checkIDs(t, log, ids)
}

// checkIDs checks that from the first line of a request on all lines carry both
// ids, that there is one line of each request itself, the last one, in the order
// of the given ids, and that one id of Lambda goes with one of API Gateway.
func checkIDs(t *testing.T, log string, ids []string) {
	t.Helper()
	var requests []string
	lambdaIDs := map[string]string{} // by API Gateway's
	sdk := 0
	for text := range strings.Lines(log) {
		var line struct {
			Msg          string
			RequestID    string `json:"request_id"`
			APIRequestID string `json:"apigw_request_id"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if len(lambdaIDs) == 0 && line.RequestID == "" && line.APIRequestID == "" {
			continue // of the init
		}
		if line.RequestID == "" || line.APIRequestID == "" {
			t.Errorf("without one of the ids: %s", text)
		}
		if known, ok := lambdaIDs[line.APIRequestID]; ok && known != line.RequestID {
			t.Errorf("another request_id of the same request: %s", text)
		}
		lambdaIDs[line.APIRequestID] = line.RequestID
		switch line.Msg {
		case "request":
			requests = append(requests, line.APIRequestID)
		case "AWS SDK":
			sdk++
		}
	}
	if strings.Join(requests, " ") != strings.Join(ids, " ") || len(lambdaIDs) != len(ids) || sdk == 0 {
		t.Errorf("the lines are of %q, want %q, with %d of the SDK:\n%s", requests, ids, sdk, log)
	}
}
