//go:build contract

package contract

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// Agents get their tools from the document: by the recipe in docs/interface.md, or from programs
// in JavaScript.
func TestAgents(t *testing.T) {
	t.Parallel()
	server := plainserver.Start(t, harness.Environ(), t.TempDir())
	plant := plantstest.Example(7)
	plant.Tag = new("")
	create := plantstest.CreateJSON(plant)
	token := func(t *testing.T) string { return server.Token(t, url.Values{"client_id": {t.Name()}}) }
	t.Run("MCP", func(t *testing.T) {
		t.Parallel()
		page, err := os.ReadFile("../../docs/interface.md")
		if err != nil {
			t.Fatal(err)
		}
		_, recipe, _ := strings.Cut(string(page), "```python\n")
		recipe, _, _ = strings.Cut(recipe, "```")
		dir := workspace(t, "agent.py")
		if err := os.WriteFile(filepath.Join(dir, "recipe.py"), []byte(recipe), 0o600); err != nil {
			t.Fatal(err)
		}
		env := harness.Environ("BASE="+server.Base, "TOKEN="+token(t))
		run(t, "../..", env, `"$1" "$2"/agent.py "$3"`, python(t), dir, create)
	})
	t.Run("JavaScript", func(t *testing.T) {
		t.Parallel()
		dir := workspace(t, "agents.mjs")
		run(t, dir, node(t, dir), `node agents.mjs "$@"`, server.Base, token(t), create)
	})
}
