package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// testOddEvents checks that, whatever event the function is invoked with, there is
// no Lambda error, and the processes go on. Package lambdahttp tests more events.
func testOddEvents(t *testing.T, f *function) {
	t.Helper()
	before := len(f.Environments())
	for name, event := range map[string]string{
		"empty": "", "object": "{}", "not JSON": "GET /plants HTTP/1.1",
		"schedule":       `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`,
		"invalid base64": `{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"POST"}},"body":"=","isBase64Encoded":true}`,
	} {
		expectResponse(t, f, name, event, 400, 40000)
	}
	const get = `{"version":"2.0","rawPath":"/%s","headers":{"authorization":"Bearer %s"},"requestContext":{"http":{"method":"GET"}}}`
	large := strings.Repeat("a,", 1<<20)
	expectResponse(t, f, "large path", fmt.Sprintf(get, large, ""), 404, 40401)
	expectResponse(t, f, "large header", fmt.Sprintf(get, "plants", large), 401, 40101)
	if n := len(f.Environments()); n != before {
		t.Errorf("%d processes after %d", n, before)
	}
}

// expectResponse checks the response of the function to an event.
func expectResponse(t *testing.T, f *function, name, event string, status, code int) {
	t.Helper()
	payload, err := f.Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var response struct {
		StatusCode int
		Headers    map[string]string
		Body       string
	}
	if err := json.Unmarshal(payload, &response); err != nil {
		t.Errorf("%s: %v in %s", name, err, payload)
	}
	if response.StatusCode != status || !strings.HasPrefix(response.Body, fmt.Sprintf(`{"error":%d,`, code)) ||
		response.Headers["Content-Type"] != "application/json" || response.Headers["Cache-Control"] != "no-store" {
		t.Errorf("%s: want status %d and error %d, got %s", name, status, code, payload)
	}
}
