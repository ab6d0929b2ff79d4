//go:build contract

package contract

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/testing/harness"
)

// The tools, with their versions.
var (
	//go:embed requirements.txt
	requirements []byte
	//go:embed package.json
	packages []byte
	//go:embed pom.xml
	pom []byte
)

var (
	installPython = sync.OnceValues(func() (interpreter string, err error) {
		return harness.Python("contract", requirements)
	})
	installNode = sync.OnceValues(func() (dir string, err error) {
		return harness.Dir("contract-node", packages, func(dir string) error {
			return install(dir, "package.json", packages, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund")
		})
	})
	installJar = sync.OnceValues(func() (dir string, err error) {
		return harness.Dir("openapi-generator", pom, func(dir string) error {
			return install(dir, "pom.xml", pom, "mvn", "--quiet", "--batch-mode", "--file", filepath.Join(dir, "pom.xml"),
				"dependency:copy-dependencies", "-DoutputDirectory="+dir)
		})
	})
)

// install writes the file that lists packages, and runs the command that reads it.
func install(dir, name string, list []byte, command string, args ...string) error {
	err := os.WriteFile(filepath.Join(dir, name), list, 0o600)
	if err == nil {
		_, err = harness.Run(command, args...)
	}
	return err
}

// python returns a Python interpreter with the packages of requirements.txt.
func python(t *testing.T) string {
	t.Helper()
	interpreter, err := installPython()
	if err != nil {
		t.Fatalf("the tools in Python can't be installed; they need Python 3.11 or later with venv "+
			"(Debian: python3-venv): %v", err)
	}
	return interpreter
}

// workspace returns a folder with the document and the files of testdata that the patterns
// match.
func workspace(t *testing.T, patterns ...string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{"openapi.yaml": api.Document}
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, name := range names {
			if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// node makes the packages of package.json available in dir, and returns the environment for
// their commands. Node.js is one of them, so that the installed one may be older.
func node(t *testing.T, dir string) (env []string) {
	t.Helper()
	installed, err := installNode()
	if err != nil {
		t.Fatalf("the tools in JavaScript can't be installed; they need npm (Debian: nodejs, npm): %v", err)
	}
	modules := filepath.Join(installed, "node_modules")
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return harness.Environ("PATH=" + filepath.Join(modules, ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH"))
}

// run runs a shell command in dir. The command may use args as $1 and so on.
func run(t *testing.T, dir string, env []string, command string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-euc", command, "sh"}, args...)...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%v\n%s", command, err, strings.TrimSpace(string(out)))
	}
}
