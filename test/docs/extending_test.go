//go:build extending

package docs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGuide carries out the changes of docs/extending.md on copies of the project
// and runs the tests that can notice a mistake in them. It must notice a patch, an edit
// or a rename that leaves a project whose tests fail. It takes minutes, so its build tag
// keeps it out of go test ./...; run it with make extending.
func TestGuide(t *testing.T) {
	for _, name := range patches(t) {
		t.Run(name, func(t *testing.T) {
			dir := copyProject(t)
			apply(t, dir, name)
			run(t, dir, "make snapshot")
			run(t, dir, "go test ./internal/... ./api ./cmd/...")
			run(t, dir, "go test ./test/template -run ^(TestTable|TestPermissions|TestEnvironment|TestNewValues|TestScopes|TestRetention|TestLint|TestCORS|TestSnapshot|TestAlarms)")
			run(t, dir, "go test ./test/e2e -run ^TestBolt$")
		})
	}
	t.Run("required field", func(t *testing.T) {
		dir := copyProject(t)
		edit(t, dir, "internal/plants/plants.go",
			"\n}\n\n// Validate", "\n\n\t// Height is in centimetres, from 1 to 20000.\n\tHeight int64 `json:\"height\"`\n}\n\n// Validate",
			"Validate() error {\n", "Validate() error {\n\tif p.Height < 1 || p.Height > 20000 {\n\t\treturn errors.New(\"height must be from 1 to 20000\")\n\t}\n")
		edit(t, dir, "api/openapi.yaml",
			"required: [name]\n      properties:", "required: [name, height]\n      properties:\n        height: {type: integer, format: int64, minimum: 1, maximum: 20000}",
			"name: Basil, tag: herb}", "name: Basil, tag: herb, height: 30}", "name: Ficus}", "name: Ficus, height: 200}")
		run(t, dir, "go test ./internal/... ./api ./cmd/...")
		run(t, dir, "go test ./test/e2e ./test/browser")
	})
	t.Run("all and rename", func(t *testing.T) {
		dir := copyProject(t)
		for _, name := range patches(t) {
			apply(t, dir, name)
		}
		run(t, dir, "make rename MODULE=example.org/you/orchids NAME=orchid NAMES=orchids TITLE=Orchidarium")
		run(t, dir, "git diff --exit-code -- docs/page.png") // a binary file
		run(t, dir, "make snapshot")
		if empty := run(t, dir, "find . -type d -empty ! -path ./.git/*"); empty != "" {
			t.Errorf("make rename left the empty folders\n%s", empty)
		}
		run(t, dir, "go test ./internal/... ./api ./cmd/... ./test/docs ./test/template")
		run(t, dir, "go test ./test/e2e -run ^(TestBolt|TestLambda)$")
		run(t, dir, "make rename MODULE=example.org/me/orchids NAME=orchid NAMES=orchids")
		if got := run(t, dir, "go list -m"); got != "example.org/me/orchids\n" {
			t.Errorf("after a second rename the module is %s", got)
		}
	})
	t.Run("rename and all", func(t *testing.T) { // to shorter names, which gofmt aligns otherwise
		dir := copyProject(t)
		run(t, dir, "make rename MODULE=example.org/you/trees NAME=tree NAMES=trees")
		run(t, dir, "git add -A")
		for _, name := range patches(t) {
			apply(t, dir, name)
		}
		run(t, dir, "go test ./internal/trees ./internal/records/... ./internal/handlers ./api ./test/docs")
	})
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

// edit replaces texts of a file, given in pairs.
func edit(t *testing.T, dir, name string, oldnew ...string) {
	t.Helper()
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	for pair := range slices.Chunk(oldnew, 2) {
		if !bytes.Contains(text, []byte(pair[0])) {
			t.Errorf("%s doesn't have %q", name, pair[0])
		}
	}
	if err := errors.Join(err, os.WriteFile(path, []byte(strings.NewReplacer(oldnew...).Replace(string(text))), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// apply applies a patch. New files must be tracked to be renamed.
func apply(t *testing.T, dir, name string) {
	t.Helper()
	run(t, dir, "git apply --index --ignore-whitespace docs/extending/"+name+".patch")
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
