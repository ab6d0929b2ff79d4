package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"testing"
)

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	log := New(&b, slog.LevelWarn)
	outer := WithRequestID(context.Background(), "r1")
	log.WarnContext(With(outer, slog.String("extra", "x\x1b\n")), "inner", "own", 1)
	log.With("component", "sdk").ErrorContext(outer, "outer")
	log.WithGroup("g").ErrorContext(outer, "group")
	log.InfoContext(outer, "dropped")
	const want = `{"level":"WARN","msg":"inner","own":1,"request_id":"r1","extra":"x\u001b\n"}
{"level":"ERROR","msg":"outer","component":"sdk","request_id":"r1"}
{"level":"ERROR","msg":"group","g":{"request_id":"r1"}}
`
	if got := regexp.MustCompile(`"time":"[^"]+",`).ReplaceAllString(b.String(), ""); got != want {
		t.Errorf("got\n%swant, with times,\n%s", got, want)
	}
}

// A terminal gets text, and a file gets JSON. The null device serves as the terminal:
// every system has it, and it is a character device too.
func TestTerminal(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if _, ok := New(device, slog.LevelInfo).Handler().(contextHandler).Handler.(*slog.TextHandler); !ok {
		t.Error("a terminal doesn't get text")
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
