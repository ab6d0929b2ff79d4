package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// refuses checks that the program does not start and prints the reason in one
// line that contains all the words. The exit code is 2 for wrong usage, else 1.
func refuses(t *testing.T, env []string, dir string, args []string, words ...string) {
	t.Helper()
	p := plainserver.Launch(t, env, dir, args...)
	code := p.Wait()
	line := p.Stderr.String()
	want := 1
	if strings.Contains(line, "see -help") {
		want = 2
	}
	if code != want || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("exit code %d, want %d after a single line:\n%s", code, want, line)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("%q is missing in: %s", word, line)
		}
	}
	if log := p.Stdout.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
}

// The program names an invalid setting, whichever part of it notices. The tests of package
// main try more of them.
func TestInvalidSettings(t *testing.T) {
	for name, test := range map[string]struct{ env, args, words string }{
		"log level":            {env: "LOG_LEVEL=loud", words: "LOG_LEVEL loud"},
		"argument":             {args: "serve", words: "serve -help"},
		"exposed issuer":       {args: "-addr 0.0.0.0:0", words: "-addr 0.0.0.0:0 -expose-issuer"},
		"issuer for all pages": {env: "CORS_ORIGINS=http://a.example,*", words: "CORS_ORIGINS=* -expose-issuer"},
		"no DynamoDB": {
			env:   strings.Join(dynamolocal.Environ("http://127.0.0.1:1", ""), " "),
			words: "DynamoDB at http://127.0.0.1:1 is DynamoDB Local running? storage unreachable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, harness.Environ(strings.Fields(test.env)...), filepath.Join(t.TempDir(), "data"),
				strings.Fields(test.args), strings.Fields(test.words)...)
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
