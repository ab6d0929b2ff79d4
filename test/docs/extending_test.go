package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"example.com/plantstore/test/tools"
)

// maxExtensionFiles is how many files a new field and a new route may touch
// together. If a change needs more, make the code easier to extend.
const maxExtensionFiles = 14

var (
	patchedFiles = regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`)
	guideRows    = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
)

// TestPatches checks that the patches of the guide apply, and that the guide
// names the files that they change. `make extending` tests what they make. After
// make rename, gofmt may have aligned the code otherwise.
func TestPatches(t *testing.T) {
	tools.Need(t, "git")
	all := map[string]bool{}
	for _, name := range []string{"add-field", "add-route"} {
		patch := "docs/extending/" + name + ".patch"
		apply := func(args ...string) ([]byte, error) {
			cmd := exec.CommandContext(t.Context(), "git", append([]string{"apply", "--check", "--ignore-whitespace", patch}, args...)...)
			cmd.Dir = "../.."
			return cmd.CombinedOutput()
		}
		_, applied := apply("--reverse")
		if out, err := apply(); err != nil && applied != nil {
			t.Errorf("%s doesn't apply any more: apply it with git apply --3way, fix it, and save the new git diff\n%s", patch, out)
		}
		for _, file := range patchedFiles.FindAllStringSubmatch(read(t, patch), -1) {
			all[file[1]] = true
			os.Stat(filepath.Join("../..", file[1])) // or else go test caches the result, since git reads the file
		}
	}
	if len(all) > maxExtensionFiles {
		t.Errorf("the patches change %d files, at most %d are allowed", len(all), maxExtensionFiles)
	}
	named := map[string]bool{}
	for _, row := range guideRows.FindAllStringSubmatch(read(t, "docs/extending.md"), -1) {
		named[row[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("docs/extending.md names %q, but the patches change %q", got, want)
	}
}
