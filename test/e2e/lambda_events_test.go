package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/dynamolocal"
)

// Whoever may invoke the function may send it anything. What isn't an HTTP
// request is answered as a bad one; nothing is a Lambda error, and the process
// lives on.
func TestLambdaOddEvents(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	o := functionOptions(t, dynamolocal.Endpoint(t), "TOKEN_JWKS="+string(issuer.JWKS()))
	o.Concurrency = 1
	f := startFunction(t, issuer, o)
	const sound = `{"version":"2.0","rawPath":"/%s","headers":{%s},"requestContext":{"http":{"method":"%s"}},"body":"%s","isBase64Encoded":%t}`
	events := map[string]string{
		"nothing": "", "null": "null", "object": "{}", "array": "[]", "string": `"2.0"`, "not JSON": "GET /plants HTTP/1.1",
		"cut off": `{"version":"2.0","rawPath":"/pl`, "not UTF-8": "{\"version\":\"2.0\",\"rawPath\":\"/\xff\"}",
		"deep":              strings.Repeat(`{"a":`, 20_000),
		"schedule":          `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`,
		"base64":            fmt.Sprintf(sound, "plants", "", "POST", "=", true),
		"method":            fmt.Sprintf(sound, "plants", "", "GE T", "", false),
		"header":            fmt.Sprintf(sound, "plants", `"a b":"c"`, "GET", "", false),
		"line break inside": fmt.Sprintf(sound, "plants", `"a":"b\r\nc: d"`, "GET", "", false),
	}
	files, err := filepath.Glob("../../internal/lambdahttp/testdata/no-request/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no events in files: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events[filepath.Base(file)] = string(b)
	}
	for name, event := range events {
		checkAnswer(t, f, name, event, 400, 40000)
	}
	// Sound, but odd.
	large := strings.Repeat("a,", 1<<20)
	checkAnswer(t, f, "percent", fmt.Sprintf(sound, "plants/%", "", "DELETE", "", false), 401, 40100)
	checkAnswer(t, f, "large path", fmt.Sprintf(sound, large, "", "GET", "", false), 404, 40401)
	checkAnswer(t, f, "large header", fmt.Sprintf(sound, "plants", `"authorization":"Bearer `+large+`"`, "GET", "", false), 401, 40101)
	checkAnswer(t, f, "unknown method", fmt.Sprintf(sound, "plants", "", "get", "", false), 405, 40500)
	if n := len(f.Environments()); n != 1 {
		t.Errorf("it took %d processes", n)
	}
}

// checkAnswer checks what the function returns to an event.
func checkAnswer(t *testing.T, f *function, name, event string, status, number int) {
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
	if response.StatusCode != status || !strings.HasPrefix(response.Body, fmt.Sprintf(`{"error":%d,`, number)) ||
		response.Headers["Content-Type"] != "application/json" || response.Headers["Cache-Control"] != "no-store" {
		t.Errorf("%s: want %d, %d, got %s", name, status, number, payload)
	}
}
