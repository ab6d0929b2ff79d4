//go:build extending

package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestParts takes each part away from a copy of the project, by the commands of
// docs/removing.md, which end with the tests that still pass. The copy also has the
// second resource, which the commands must not leave behind. It must notice a command
// that changes nothing any more, and code that is left but doesn't build, pass its tests
// or look as gofmt formats it.
func TestParts(t *testing.T) {
	parts := strings.Split(read(t, "docs/removing.md"), "\n## ")
	block := regexp.MustCompile("(?s)\n```sh\n(.*?)```")
	for _, part := range parts[1:] {
		name, _, _ := strings.Cut(part, "\n")
		t.Run(name, func(t *testing.T) {
			dir := copyProject(t)
			apply(t, dir, "add-resource")
			functions, commands := block.FindStringSubmatch(parts[0])[1], block.FindStringSubmatch(part)[1]
			cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", functions+commands)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath") // so that the copies share the build cache
			if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("no tests to run")) {
				t.Fatalf("%v\n%s", err, out)
			}
			if unformatted := run(t, dir, "gofmt -l ."); unformatted != "" {
				t.Errorf("gofmt would change %s", unformatted)
			}
			run(t, dir, "go vet -tags contract,issuers,extending ./...")
		})
	}
	if len(parts) == 1 {
		t.Error("docs/removing.md has no parts to take away")
	}
}

// After a rename to a name of ours that others may want, nothing of the old names
// remains, and README clones the new repository. A name that clashes changes nothing.
func TestRename(t *testing.T) {
	dir := copyProject(t)
	run(t, dir, "make rename MODULE=example.org/you/lending/v2 NAME=tool NAMES=tools")
	if text, _ := os.ReadFile(filepath.Join(dir, "README.md")); !bytes.Contains(text, []byte("\ngit clone https://example.org/you/lending\ncd lending\n")) {
		t.Error("README.md doesn't clone the repository of MODULE")
	}
	old := exec.CommandContext(t.Context(), "git", "grep", "-inE", "plant|tool store|(\\b|\\\\[nt])(basil|ficus|fern|thyme|sage|rosemary|baobab|herb)\\b", "--", ":!LICENSE", ":!go.sum", ":!*.svg", ":!test/docs/parts_test.go")
	old.Dir = dir
	if out, _ := old.Output(); len(out) > 0 {
		t.Errorf("these remain:\n%s", out)
	}
	dir = copyProject(t)
	clash := exec.CommandContext(t.Context(), "make", "rename", "MODULE=example.org/you/music", "NAME=record", "NAMES=records")
	clash.Dir = dir
	if out, err := clash.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("Nothing has changed")) {
		t.Errorf("%v\n%s", err, out)
	}
	if changed := run(t, dir, "git diff --name-only"); changed != "" {
		t.Errorf("a name that clashes changes %s", changed)
	}
}
