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

// Agents get their tools by the recipe in docs/interface.md.
func TestAgents(t *testing.T) {
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
	plant := plantstest.Example(7)
	plant.Tag = new("")
	server := plainserver.Start(t, harness.Environ(), t.TempDir())
	env := harness.Environ("BASE="+server.Base, "TOKEN="+server.Token(t, url.Values{"client_id": {"alice"}}))
	run(t, "../..", env, `"$1" "$2"/agent.py "$3"`, python(t), dir, plantstest.CreateJSON(plant))
}
