//go:build unix

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// The targets for AWS say which tool is missing, and where to get it.
func TestMissingTool(t *testing.T) {
	harness.Need(t, "make", "go", "awk", "tr")
	tools := t.TempDir() // with all that they need except sam
	for _, name := range []string{"go", "awk", "tr"} {
		path, _ := exec.LookPath(name)
		if err := os.Symlink(path, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, target := range []string{"build", "deploy", "logs", "delete"} {
		cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", target)
		cmd.Env = harness.Environ("PATH=" + tools)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), " needs sam: install it from https://") {
			t.Errorf("make %s: %v\n%s", target, err, out)
		}
	}
}

// Without the repository, as in an unpacked ZIP, what depends on it fails and says so,
// also if the ZIP is unpacked in another repository.
func TestWithoutRepository(t *testing.T) {
	harness.Need(t, "git", "perl", "go")
	for _, inAnother := range []bool{false, true} {
		dir := t.TempDir()
		if inAnother {
			if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		for _, name := range []string{"go.mod", "api/openapi.yaml", "docs/rename.sh", "test/contract/compat.sh"} {
			path := filepath.Join(dir, "unpacked", name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(read(t, name)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for command, want := range map[string]string{
			"docs/rename.sh example.org/you/orchids orchid orchids": "git init && git add -A",
			"test/contract/compat.sh true":                          "run it in a clone",
		} {
			cmd := exec.CommandContext(t.Context(), "sh", strings.Fields(command)...)
			cmd.Dir = filepath.Join(dir, "unpacked")
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, want an error with %q:\n%s", command, err, want, out)
			}
		}
	}
}
