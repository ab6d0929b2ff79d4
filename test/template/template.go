// Package template tests template.yaml, samconfig.toml, the build of the function and the
// workflow that deploys it. [Python] gives other tests the same tools.
package template

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// Region is the AWS region of all commands.
const Region = "eu-central-1"

//go:embed requirements.txt
var requirements []byte

var install = sync.OnceValues(func() (string, error) { return harness.Python("sam", requirements) })

// Python returns the command that runs Python with the given arguments, the packages
// of requirements.txt and, on Unix, the commands sam and aws. The first call installs
// them; without Python see [harness.Missing].
func Python(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	err := harness.DependOn("Makefile", "samconfig.toml", "template.yaml", "test/template") // the commands read them
	if err != nil {
		tb.Fatal(err)
	}
	python, err := install()
	if err != nil {
		const advice = "install Python 3.11 or later with its venv module (Debian: python3-venv)"
		harness.Missing(tb, fmt.Errorf("no SAM CLI: %s: %w", advice, err))
	}
	cmd, bin := exec.CommandContext(tb.Context(), python, args...), tb.TempDir()
	for name, module := range map[string]string{"sam": "samcli", "aws": "awscli"} {
		script := "#!/bin/sh\nexec '" + python + "' -m " + module + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	cmd.Env = harness.Environ("PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"AWS_REGION="+Region, "AWS_DEFAULT_REGION="+Region, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"SAM_CLI_TELEMETRY=0", "__SAM_CLI_APP_DIR="+bin)
	return cmd
}

// CopySource copies what the function is built from, so that sam's files don't
// get into a developer's directory. Opening the files also makes the go command
// rerun the test if one has changed.
func CopySource(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, name := range []string{"api", "cmd", "internal"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("../..", name))); err != nil {
			tb.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "template.yaml", "samconfig.toml"} {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
