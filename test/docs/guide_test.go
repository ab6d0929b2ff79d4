//go:build extending

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The build tag keeps what shows that the guide fits the project out of go test ./...: a
// project that was copied from this one has no use for it. Run it with make extending.

// patches returns those that the guide links to, in its order.
func patches(t *testing.T) (names []string) {
	t.Helper()
	for _, link := range regexp.MustCompile(`\(extending/(.*)\.patch\)`).FindAllStringSubmatch(read(t, "docs/extending.md"), -1) {
		names = append(names, link[1])
	}
	return names
}

var (
	patchedFiles = regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`)
	guideRows    = regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|")
)

// TestPatches checks that each patch of the guide applies, and that the guide names the
// files that they change. After make rename, gofmt may have aligned the code otherwise.
func TestPatches(t *testing.T) {
	all := map[string]bool{}
	for _, name := range patches(t) {
		patch := "docs/extending/" + name + ".patch"
		cmd := exec.CommandContext(t.Context(), "git", "apply", "--check", "--ignore-whitespace", patch)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s doesn't apply any more: apply it with git apply --reject --ignore-whitespace, fix it, and save the new git diff -U1\n%s", patch, out)
		}
		for _, file := range patchedFiles.FindAllStringSubmatch(read(t, patch), -1) {
			all[file[1]] = true
		}
	}
	named := map[string]bool{}
	for _, row := range guideRows.FindAllStringSubmatch(read(t, "docs/extending.md"), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			name = strings.Trim(name, "`")
			named[name] = true
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil && !all[name] {
				t.Errorf("docs/extending.md names %s, which neither exists nor is made by a patch", name)
			}
		}
	}
	for name := range all {
		if !named[name] {
			t.Errorf("docs/extending.md doesn't name %s, which a patch changes", name)
		}
	}
}

// TestRoutes checks that the rows that the README shows are in the route table.
func TestRoutes(t *testing.T) {
	shown := regexp.MustCompile("(?s)\n```go\n(.*?)```").FindStringSubmatch(read(t, "README.md"))
	if shown == nil {
		t.Fatal("README.md shows no routes")
	}
	for line := range strings.Lines(shown[1]) {
		if !strings.Contains(read(t, "internal/handlers/routes.go"), "\t"+line) {
			t.Errorf("README.md shows a route that internal/handlers/routes.go doesn't have: %s", line)
		}
	}
}
