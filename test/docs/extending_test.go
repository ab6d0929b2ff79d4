package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// The code of extending.md compiles, all of it together. The line above a block names its
// file: a block of Go goes to the end of it, and a diff changes what it has. A copy that
// has followed the page has these lines already: then the test is skipped, except in the
// CI of the original.
func TestExtending(t *testing.T) {
	harness.Need(t, "go")
	if !strings.HasPrefix(read(t, "go.mod"), "module example.com/") {
		t.Skip("this is a renamed copy, whose code may differ")
	}
	page := read(t, "docs/extending.md")
	blocks := regexp.MustCompile("(?s)`([\\w/.]+)`[^`\n]*\n\n```(go|diff)\n(.*?)```").FindAllStringSubmatch(page, -1)
	if n := strings.Count(page, "```go\n") + strings.Count(page, "```diff\n"); n != len(blocks) || n == 0 {
		t.Fatalf("%d of %d blocks have a line above that ends with their file", len(blocks), n)
	}
	files := map[string]string{}
	for _, block := range blocks {
		name, code := block[1], block[3]
		if files[name] == "" {
			files[name] = read(t, name)
		}
		if block[2] == "go" {
			files[name] += "\n" + code
			continue
		}
		for hunk := range strings.SplitSeq(code, "@@\n") {
			var before, after string
			for line := range strings.Lines(hunk) {
				text := strings.TrimLeft(line[:1], " +-") + line[1:]
				if line[0] != '+' {
					before += text
				}
				if line[0] != '-' {
					after += text
				}
			}
			if strings.Count(files[name], before) != 1 {
				harness.Missing(t, fmt.Errorf("docs/extending.md and the code differ, which is right in a copy: delete this test there. "+
					"%s doesn't have these lines once:\n%s", name, before))
			}
			files[name] = strings.Replace(files[name], before, after, 1)
		}
	}
	dir, overlay := t.TempDir(), map[string]map[string]string{"Replace": {}}
	for name, text := range files {
		path, err := filepath.Abs(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		changed := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][path] = changed
	}
	list, _ := json.Marshal(overlay) // of strings
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "-overlay", filepath.Join(dir, "overlay.json"), "./internal/...", "./api")
	vet.Dir = "../.."
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
