package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/program"
)

// refuses checks that the program does not start and prints the reason in one
// line that contains all the words.
func refuses(t *testing.T, env []string, dir string, args []string, words ...string) {
	t.Helper()
	p := launch(t, env, dir, args...)
	code := p.Wait(t)
	line := p.Stderr.String()
	if code != 1 || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("exit code %d, want 1 after a single line:\n%s", code, line)
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

// The program names an invalid setting, whichever part of it notices.
func TestInvalidSettings(t *testing.T) {
	for name, test := range map[string]struct{ env, args, words string }{
		"log level":               {env: "LOG_LEVEL=loud", words: "LOG_LEVEL loud"},
		"issuer without audience": {env: "TOKEN_ISSUER=https://issuer.example", words: "TOKEN_AUDIENCE"},
		"unreachable endpoint":    {env: "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", words: "http://127.0.0.1:1 DynamoDB Local"},
		"origin":                  {env: "CORS_ORIGINS=localhost:3000", words: "CORS_ORIGINS localhost:3000"},
		"unknown flag":            {args: "-port 8080", words: "-port"},
		"address":                 {args: "-addr nowhere", words: "-addr nowhere"},
		"address of another host": {args: "-addr 192.0.2.1:0", words: "-addr 192.0.2.1"},
		"exposed issuer":          {args: "-addr 0.0.0.0:0", words: "-addr 0.0.0.0:0 -expose-issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			aws := []string{"AWS_REGION=local", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x"}
			env := program.Environ(append(aws, strings.Fields(test.env)...)...)
			refuses(t, env, filepath.Join(t.TempDir(), "data"), strings.Fields(test.args), strings.Fields(test.words)...)
		})
	}
}

// An empty variable means the same as an unset one, and -expose-issuer allows
// any address.
func TestValidSettings(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ("AWS_ENDPOINT_URL_DYNAMODB=", "TOKEN_ISSUER=", "CORS_ORIGINS="), t.TempDir(), "-addr", "0.0.0.0:0", "-expose-issuer")
	if !strings.HasPrefix(p.Base, "http://localhost:") {
		t.Errorf("%s may not open in a browser", p.Base)
	}
	c, token := p.user(t)
	expect(t, c, token, "GET", 200, 0)
}

// A second process on the same data does not start, and does not disturb the
// first one. Nor does one that can't have its port.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, program.Environ(), dir)
	refuses(t, program.Environ(), dir, nil, filepath.Join(dir, "plants.db"), "another process")
	addr := strings.TrimPrefix(p.Base, "http://")
	refuses(t, program.Environ(), t.TempDir(), []string{"-addr", addr}, "-addr", addr, "another port")
	c, token := p.user(t)
	id := randomID()
	createAll(t, c, token, plant{ID: &id, Name: "Basil"})
	expectPlants(t, c, token, plant{ID: &id, Name: "Basil"})
}
