package dynamo_test

import (
	"bytes"
	"encoding/json"
	"io"
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

// The lines of the SDK are structured, belong to their request, and appear for
// a fault of the service alone.
func TestLog(t *testing.T) {
	var plain bytes.Buffer
	log.SetOutput(&plain)
	defer log.SetOutput(os.Stderr)

	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	var lines bytes.Buffer
	client, err := dynamo.NewClientFromConfig(dynamolocal.Config(proxy.URL), logging.New(&lines, slog.LevelDebug))
	if err != nil {
		t.Fatal(err)
	}
	store := dynamo.New(client, table)
	ctx := logging.With(t.Context(), slog.String("request_id", "r-1"))

	proxy.Fail("PutItem", dynamolocal.Throttle)
	if err := store.Create(ctx, "alice", fern, plants.NewWriteToken()); err != nil {
		t.Fatal(err)
	}
	wantLine(t, &lines, "DEBUG", "retrying request DynamoDB/PutItem, attempt 2")

	if err := store.Create(ctx, "alice", fern, plants.NewWriteToken()); err == nil {
		t.Fatal("created twice")
	}
	if strings.Contains(lines.String(), `"WARN"`) {
		t.Errorf("a failed condition is warned of:\n%s", &lines)
	}
	lines.Reset()

	proxy.Fail("PutItem", dynamolocal.Truncate)
	if err := store.Create(ctx, "bob", plants.Plant{ID: 8, Name: "fern"}, plants.NewWriteToken()); err != nil {
		t.Fatal(err)
	}
	wantLine(t, &lines, "WARN", "failed to discard remaining HTTP response body")
	if plain.Len() > 0 {
		t.Errorf("lines past the logger:\n%s", &plain)
	}
}

// wantLine checks that all lines are of the request, and that one says text. It
// drops them.
func wantLine(t *testing.T, lines *bytes.Buffer, level, text string) {
	t.Helper()
	found := false
	all := lines.String()
	for d := json.NewDecoder(lines); ; {
		var line struct {
			Level, Msg, Detail string
			RequestID          string `json:"request_id"`
		}
		if err := d.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if line.Msg != "AWS SDK" || line.RequestID != "r-1" {
			t.Errorf("line %+v lacks the request's id", line)
		}
		found = found || line.Level == level && strings.Contains(line.Detail, text)
	}
	if !found {
		t.Errorf("no line of level %s says %q:\n%s", level, text, all)
	}
	lines.Reset()
}
