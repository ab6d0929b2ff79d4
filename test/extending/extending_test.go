//go:build extending

// Package extending applies the guide docs/extending.md to copies of the
// project, and tests what comes out. It takes minutes, so its build tag keeps it
// out of go test ./...; run it with make extending.
package extending

import (
	"os/exec"
	"strings"
	"testing"
)

// TestGuide carries out each change of the guide and runs the tests that can
// notice a mistake in it.
func TestGuide(t *testing.T) {
	for _, change := range []struct{ name, command string }{
		{"add a field", "git apply docs/extending/add-field.patch"},
		{"add a route", "git apply docs/extending/add-route.patch"},
		{"make it your own", "make rename MODULE=example.org/you/orchids NAME=orchid NAMES=orchids"},
	} {
		t.Run(change.name, func(t *testing.T) {
			dir := copyProject(t)
			run(t, dir, change.command)
			run(t, dir, "go vet ./...")
			run(t, dir, "go test ./internal/... ./api/... ./cmd/... ./test/template")
			run(t, dir, "go test ./test/e2e -run ^(TestBolt|TestDynamoDB|TestLambda)$")
		})
	}
}

// copyProject copies the files that git tracks into a new repository.
func copyProject(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	copied := exec.CommandContext(t.Context(), "sh", "-c", `git ls-files -z | tar -c -f - --null -T - | tar -x -f - -C "$0"`, dir)
	copied.Dir = "../.."
	if out, err := copied.CombinedOutput(); err != nil {
		t.Fatalf("copying the project: %v\n%s", err, out)
	}
	run(t, dir, "git init -q")
	run(t, dir, "git add -A")
	return dir
}

// run runs a command, whose words are separated by spaces, and returns what it
// printed.
func run(t *testing.T, dir, command string) string {
	t.Helper()
	words := strings.Fields(command)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
