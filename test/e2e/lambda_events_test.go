package e2e

import (
	"bytes"
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
		"schedule": `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`,
		"large":    `{"body":"` + strings.Repeat("a", 5<<20) + `"}`,
	} {
		got, err := f.Invoke(t.Context(), []byte(event))
		if err != nil || !bytes.HasPrefix(got, []byte(`{"statusCode":400,`)) || !bytes.Contains(got, []byte(`{\"error\":40000,`)) {
			t.Errorf("%s: want status 400 and error 40000, got %s, %v", name, got, err)
		}
	}
	if n := len(f.Environments()); n != before {
		t.Errorf("%d processes after %d", n, before)
	}
}
