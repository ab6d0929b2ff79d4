//go:build unix

package docs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// The targets for AWS say which tool is missing, and where to get it.
func TestMissingTool(t *testing.T) {
	harness.Need(t, "make", "go")
	tools := t.TempDir() // with all that they need except sam
	path, _ := exec.LookPath("go")
	if err := os.Symlink(path, filepath.Join(tools, "go")); err != nil {
		t.Fatal(err)
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
			write(t, filepath.Join(dir, "unpacked", name), read(t, name))
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

// write writes a file, and makes its folder.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// A name that Go or the code uses is refused by name, before anything changes.
func TestRefusedNames(t *testing.T) {
	harness.Need(t, "git", "perl", "go")
	dir := t.TempDir()
	files := map[string]string{"go.mod": read(t, "go.mod"), "docs/rename.sh": read(t, "docs/rename.sh"), "records.go": "package records\n\nimport _ \"errors\"\n"}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", "cd '"+dir+"' && git init -q && git add -A").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for names, want := range map[string]string{
		"case cases":     `"case" is a word of Go. Nothing has changed`,
		"record records": `"records" is the name of a package in the code. Nothing has changed`,
		"error errors":   `"errors" is the name of a package in the code. Nothing has changed`,
	} {
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"docs/rename.sh", "example.org/you/x"}, strings.Fields(names)...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want an error with %q:\n%s", names, err, want, out)
		}
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
}
