package template

import (
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	t.Parallel()
	text := readFile(t, "template.yaml")
	for _, name := range []string{"template.yaml", "monitoring.yaml"} {
		for _, finding := range do(t, job{Lint: readFile(t, name)}).Findings {
			t.Errorf("%s: %s", name, finding)
		}
	}
	// Findings of a broken template show that the linter works.
	broken := strings.ReplaceAll(text, "!Ref PlantTable", "!Ref NoSuchTable")
	if found := do(t, job{Lint: broken}).Findings; !strings.Contains(strings.Join(found, "\n"), "NoSuchTable") {
		t.Errorf("the linter doesn't find a reference to a table that doesn't exist: %q", found)
	}
}
