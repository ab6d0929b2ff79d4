package e2e

import (
	"testing"
	"time"

	"example.com/plantstore/test/harness"
)

// A stale exception is an error, and so is a create that gets the wanted answer only
// when it is repeated. Malformed scripts are refused. See also testdata/must-fail.txt.
func TestScripts(t *testing.T) {
	t.Parallel()
	target := start(t, harness.Environ(), t.TempDir()).target()
	target.Lag, target.Exceptions = time.Minute, map[string]string{"x: Stale.": "why"}
	v := newVars(t, newClient(target, ""))
	s := parseScript(t, "x", `# Stale.
> GET /plants
< 401

# The first answer is 200.
> POST /plants
> Authorization: Bearer $alice
> Content-Type: application/json
>
> {"id": $id, $valid}
< 400`)
	for _, x := range s.exchanges {
		if s.try(t, v, &x, "") == nil {
			t.Errorf("passes: %s", x.title)
		}
	}
	for _, block := range []string{"> GET /", "< 200", "> GET /\n< 200\n200", "> GET /\n> x\n< 200"} {
		if _, err := parseExchange(block); err == nil {
			t.Errorf("no script, but accepted: %q", block)
		}
	}
}
