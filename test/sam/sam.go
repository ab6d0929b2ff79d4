// Package sam gives tests the SAM CLI, the translator that CloudFormation
// uses for SAM templates, and cfn-lint.
package sam

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/test/tools"
)

// Region is the region that the tools take themselves to be in.
const Region = "eu-central-1"

//go:embed requirements.txt
var requirements []byte

const (
	askTimeout     = time.Minute     // for Python to say who it is, on a busy machine
	installTimeout = 8 * time.Minute // for 100 MB over a slow line
)

// Tools is a Python environment with the tools in it.
type Tools struct {
	dir    string
	python string
}

// Open returns the tools, which Python and its package manager get once and
// which are kept in the user's cache folder. If they can't be had the test is
// skipped, and a line on the terminal says so even where go test hides what
// passing tests print. With CI=true it fails instead.
func Open(t testing.TB) *Tools {
	t.Helper()
	installed, err := once()
	if err != nil {
		tools.Missing(t, err)
	}
	return installed
}

var once = sync.OnceValues(func() (*Tools, error) {
	installed, err := open()
	if err != nil {
		return nil, fmt.Errorf("no SAM CLI. Install Python 3.11 or later with its venv module (Debian: python3-venv): %s", tools.OneLine(err))
	}
	return installed, nil
})

func open() (*Tools, error) {
	python, identity, err := findPython()
	if err != nil {
		return nil, err
	}
	// Another Python needs an environment of its own, and so do other versions
	// of the tools.
	name := fmt.Sprintf("sam-%x", sha256.Sum256([]byte(identity+string(requirements))))[:16]
	dir, err := tools.Dir(name, installTimeout, func(dir string) error { return install(python, dir) })
	if err != nil {
		return nil, err
	}
	return &Tools{dir: dir, python: pythonIn(dir)}, nil
}

// findPython returns the command that is Python 3, and what tells it from others.
func findPython() (command, identity string, err error) {
	for _, command := range []string{"python3", "python"} {
		identity, askErr := tools.Run(askTimeout, command, "-c", "import sys, venv; print(sys.version, sys.executable)")
		if askErr == nil {
			return command, identity, nil
		}
		err = errors.Join(err, askErr)
	}
	return "", "", err
}

func install(python, dir string) error {
	if _, err := tools.Run(installTimeout, python, "-m", "venv", dir); err != nil {
		return err
	}
	file := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(file, requirements, 0o600); err != nil {
		return err
	}
	_, err := tools.Run(installTimeout, pythonIn(dir), "-m", "pip", "install",
		"--quiet", "--no-input", "--disable-pip-version-check", "--requirement", file)
	return err
}

func pythonIn(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}

// Python returns the command that runs Python with these arguments. Its
// environment is that of the process, without the user's own AWS settings.
func (t *Tools) Python(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.python, args...)
	cmd.Env = environ(os.Environ(), filepath.Join(t.dir, "settings"))
	cmd.WaitDelay = time.Second // in case a child of its own keeps the pipes
	return cmd
}

// SAM returns the command that runs the SAM CLI with these arguments, like
// [Tools.Python]. The scripts of the environment themselves don't work, since
// it was moved after they were made.
func (t *Tools) SAM(ctx context.Context, args ...string) *exec.Cmd {
	return t.Python(ctx, append([]string{"-m", "samcli"}, args...)...)
}

func environ(base []string, settings string) []string {
	env := []string{
		"AWS_REGION=" + Region,
		"AWS_DEFAULT_REGION=" + Region,
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"PYTHONUTF8=1",
		"SAM_CLI_TELEMETRY=0",
		"__SAM_CLI_APP_DIR=" + settings, // rather than the user's home
	}
	for _, kv := range base {
		if !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, "SAM_") && !strings.HasPrefix(kv, "PYTHON") {
			env = append(env, kv)
		}
	}
	return env
}
