//go:build contract

package contract

import (
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// The document is valid to parsers that people use.
func TestParsers(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "validate.mjs")
	env := node(t, dir)
	for name, command := range map[string]string{
		"swagger-parser": "node validate.mjs",
		"redocly":        "redocly lint --extends spec openapi.yaml",
	} {
		t.Run(name, func(t *testing.T) { run(t, dir, env, command) })
	}
	t.Run("openapi-spec-validator", func(t *testing.T) {
		run(t, dir, harness.Environ(), `"$1" -m openapi_spec_validator openapi.yaml`, python(t))
	})
}
