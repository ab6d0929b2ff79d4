package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"testing"
)

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	log := New(&b, slog.LevelWarn)
	outer := WithRequestID(context.Background(), "r1")
	log.WarnContext(With(outer, slog.String("extra", "x\u202e")), "inner", "own", 1)
	log.With("component", "sdk\u009b").ErrorContext(outer, "outer")
	log.WithGroup("g").ErrorContext(outer, "group")
	log.InfoContext(outer, "dropped")
	const want = `{"level":"WARN","msg":"inner","own":1,"request_id":"r1","extra":"x\\u202e"}
{"level":"ERROR","msg":"outer","component":"sdk\\u009b","request_id":"r1"}
{"level":"ERROR","msg":"group","g":{"request_id":"r1"}}
`
	if got := regexp.MustCompile(`"time":"[^"]+",`).ReplaceAllString(b.String(), ""); got != want {
		t.Errorf("got\n%swant, with times,\n%s", got, want)
	}
}

// A terminal gets lines for a person, and a file gets JSON. The null device serves
// as the terminal: every system has it, and it is a character device too.
func TestTerminal(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if got, want := New(device, slog.LevelInfo).Handler(), (contextHandler{escapeHandler{terminalHandler{w: device, level: slog.LevelInfo}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the handler for a terminal is %+v, want %+v", got, want)
	}
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	New(file, slog.LevelInfo).Info("hello")
	if b, _ := os.ReadFile(file.Name()); !json.Valid(b) {
		t.Errorf("a file got %q, want JSON", b)
	}
}

func TestTerminalLines(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(contextHandler{escapeHandler{terminalHandler{w: &b, level: slog.LevelInfo}}})
	ctx := WithRequestID(context.Background(), "r1")
	log.InfoContext(ctx, "request", "method", "POST", "route", "POST /plants", "status", 400, "duration_ms", 0.42, "sub", "alice", "error", 40003, "cause", "the id is in use")
	log.ErrorContext(ctx, "request", "method", "GET", "route", "none", "path", "/x", "duration_ms", 12.0, "sub", "a\u202eb", "cause", "panic: \x1b[2J\r\n09:00:00 GET /x", "stack", "goroutine 1\n\tmain.go:7")
	log.With("host", "x y").With("port", 7).WarnContext(ctx, "token keys not fetched", "cause", "status 404")
	log.DebugContext(ctx, "dropped")
	const want = `POST /plants 400 0.4ms alice 40003 the id is in use
ERROR GET /x 12.0ms a\u202eb panic: \x1b[2J\r\n09:00:00 GET /x
goroutine 1
	main.go:7
WARN token keys not fetched status 404 host="x y" port="7"
`
	if got := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `).ReplaceAllString(b.String(), ""); got != want {
		t.Errorf("got\n%swant, with times,\n%s", got, want)
	}
}
