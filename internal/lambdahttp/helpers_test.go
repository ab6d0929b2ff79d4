package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/test/harness"
)

var _ lambda.Handler = (*Handler)(nil)

// Events that most tests use.
const (
	httpAPI     = "http-api/list.json"
	create      = "http-api/create.json"
	functionURL = "aws-lambda-go/lambda-urls-request.json"
	samLocal    = "sam-local/create.json"
)

// fixture returns the event in a file of testdata, or of aws-lambda-go's.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if theirs, ok := strings.CutPrefix(name, "aws-lambda-go/"); ok {
		module, err := moduleDir()
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(module, "events", "testdata", theirs)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var moduleDir = sync.OnceValues(func() (string, error) {
	// The module cache contains these files even if the module is vendored.
	text, err := harness.Run("go", "mod", "download", "-json", "github.com/aws/aws-lambda-go")
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	err = json.Unmarshal([]byte(text), &module)
	return module.Dir, err
})

// with returns the event in a file of testdata with other values. The values are pairs of
// a path, such as headers/host, and the value to set there.
func with(t testing.TB, name string, values ...any) []byte {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal(fixture(t, name), &event); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(values); i += 2 {
		at, names := event, strings.Split(values[i].(string), "/")
		for _, name := range names[:len(names)-1] {
			at = at[name].(map[string]any)
		}
		at[names[len(names)-1]] = values[i+1]
	}
	b, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// invoke returns the response of h to an event of the invocation "l1", with the body
// decoded. It fails the test if API Gateway might reject the response.
func invoke(t testing.TB, h lambda.Handler, event []byte) events.APIGatewayV2HTTPResponse {
	t.Helper()
	b, err := h.Invoke(lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "l1"}), event)
	if err != nil {
		t.Fatalf("Lambda error: %v", err)
	}
	var a events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("not a response in format 2.0: %v\n%.200s", err, b)
	}
	if a.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			t.Fatalf("body: %v", err)
		}
		a.Body = string(body)
	}
	if a.StatusCode < 200 || a.StatusCode > 599 {
		t.Errorf("status %d", a.StatusCode)
	}
	return a
}

// ours returns this package's Handler, without a log.
func ours(h http.HandlerFunc) lambda.Handler {
	return New(h, handlers.SendError, slog.New(slog.DiscardHandler))
}

// logged returns a logger and a function that returns its lines so far.
func logged() (*slog.Logger, func() []map[string]any) {
	var b bytes.Buffer
	return logging.New(&b, slog.LevelDebug), func() (lines []map[string]any) {
		json.Unmarshal([]byte("["+strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", ",")+"]"), &lines)
		return lines
	}
}
