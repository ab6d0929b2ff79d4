package dynamo_test

import (
	"bytes"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// The SDK's messages are structured lines with the id of their request, and
// only faults of the service are warnings.
func TestLog(t *testing.T) {
	var unstructured, lines bytes.Buffer
	log.SetOutput(&unstructured)
	defer log.SetOutput(os.Stderr)

	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	client, err := dynamo.NewClient(dynamolocal.Config(proxy.URL), logging.New(&lines, slog.LevelDebug))
	if err != nil {
		t.Fatal(err)
	}
	store := dynamo.New(client, table)
	ctx := logging.With(t.Context(), slog.String("request_id", "r-1"))

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
	if unstructured.Len() > 0 {
		t.Errorf("unstructured lines:\n%s", &unstructured)
	}
}
