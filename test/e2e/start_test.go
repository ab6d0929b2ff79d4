package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// The program names an invalid setting in one line. The tests of package main try more of them.
func TestInvalidSettings(t *testing.T) {
	for env, args := range map[string]string{
		"LOG_LEVEL=loud": "",
		"X=":             "-addr=0.0.0.0:0",
	} {
		t.Run(env+args, func(t *testing.T) {
			t.Parallel()
			p := plainserver.Launch(t, harness.Environ(env), filepath.Join(t.TempDir(), "data"), strings.Fields(args)...)
			code, line := p.Wait(), p.Stderr.String()
			name, _, _ := strings.Cut(args+env, "=")
			if code != 1 || strings.Count(line, "\n") != 1 || !strings.Contains(line, name) {
				t.Errorf("exit code %d, want 1 after a single line with %s:\n%s", code, name, line)
			}
		})
	}
}

// The log on standard output has a line for each request, with the client's address, unless LOG_LEVEL leaves it out.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	for env, lines := range map[string]int{"LOG_LEVEL=info": 1, "LOG_LEVEL=error": 0} {
		p := start(t, harness.Environ(env), t.TempDir())
		p.user(t, "alice").Owns()
		p.Stop()
		log := p.Stdout.String()
		if strings.Count(log, "\n") != lines || strings.Count(log, `"source_ip":"127.0.0.1"`) != lines {
			t.Errorf("%s: want %d lines of log with the client's address, got\n%s", env, lines, log)
		}
	}
}
