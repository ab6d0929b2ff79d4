package docs

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var cast = flag.String("cast", "", "the `file` to write the session of README.md to, as an asciicast")

// writeCast writes a session to the file as an asciicast, with the pauses of a
// person. It begins with the start of the server and what it printed.
// https://docs.asciinema.org/manual/asciicast/v2/
func writeCast(t *testing.T, session, started string) {
	b := []byte(`{"version": 2, "width": 130, "height": 31}` + "\n")
	now := 0.5
	print := func(text string, pause float64) {
		event, _ := json.Marshal([]any{now, "o", text})
		b, now = append(append(b, event...), '\n'), now+pause
	}
	for line := range strings.Lines("$ go run ./cmd/local &\n" + started + session) {
		text := strings.ReplaceAll(line, "\n", "\r\n")
		if command, ok := strings.CutPrefix(text, "$ "); ok {
			print("\x1b[32m$\x1b[0m ", 0.8)
			text = command
		}
		print(text, 0.3)
	}
	print("", 3)
	if err := os.WriteFile(*cast, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
