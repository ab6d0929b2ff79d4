package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"testing"
)

// lines parses the JSON lines in b.
func lines(t *testing.T, b *bytes.Buffer) (all []map[string]any) {
	t.Helper()
	dec := json.NewDecoder(b)
	for dec.More() {
		var line map[string]any
		if err := dec.Decode(&line); err != nil {
			t.Fatalf("not JSON: %v", err)
		}
		all = append(all, line)
	}
	return all
}

func TestContextAttributes(t *testing.T) {
	var b bytes.Buffer
	log := New(&b, slog.LevelInfo)
	outer := With(context.Background(), slog.String(RequestID, "r1"))
	inner := With(outer, slog.String("extra", "x"))

	log.InfoContext(inner, "inner", "own", 1)
	log.With("component", "sdk").InfoContext(outer, "outer")
	log.WithGroup("g").Info("none")

	got := lines(t, &b)
	if len(got) != 3 {
		t.Fatalf("got %d lines, want 3", len(got))
	}
	if got[0][RequestID] != "r1" || got[0]["extra"] != "x" || got[0]["own"] != 1.0 {
		t.Errorf("attributes are missing in the inner line: %v", got[0])
	}
	if got[1][RequestID] != "r1" || got[1]["component"] != "sdk" || got[1]["extra"] != nil {
		t.Errorf("the outer line has the wrong attributes: %v", got[1])
	}
	if got[2][RequestID] != nil {
		t.Errorf("a line without a context has a request id: %v", got[2])
	}
}

func TestLevel(t *testing.T) {
	var b bytes.Buffer
	log := New(&b, slog.LevelWarn)
	log.Info("no")
	log.Warn("yes")
	if got := lines(t, &b); len(got) != 1 || got[0]["msg"] != "yes" {
		t.Errorf("got %v, want only the warning", got)
	}
}

// The null device serves as the terminal: every system has it, and it is a
// character device too.
func TestTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for _, test := range []struct {
		f    *os.File
		want bool
	}{{file, false}, {device, true}} {
		if got := isTerminal(test.f); got != test.want {
			t.Errorf("isTerminal(%s) = %v, want %v", test.f.Name(), got, test.want)
		}
	}
	New(file, slog.LevelInfo).Info("hello")
	if b, _ := os.ReadFile(file.Name()); !json.Valid(b) {
		t.Errorf("a file got %q, want JSON", b)
	}
}
