// Package sam provides tests with the SAM CLI, the translator that CloudFormation
// applies to SAM templates, cfn-lint, the AWS CLI and moto.
package sam

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/test/tools"
)

// Region is the AWS region of all commands.
const Region = "eu-central-1"

//go:embed requirements.txt
var requirements []byte

// Tools is a Python with the tools.
type Tools struct{ python string }

// Open returns the tools. The first call on a machine installs them in the
// user's cache folder. If Python is missing, so are the tools; see
// [tools.Missing].
func Open(t testing.TB) *Tools {
	t.Helper()
	python, err := once()
	if err != nil {
		tools.Missing(t, fmt.Errorf("no SAM CLI: install Python 3.11 or later with its venv module (Debian: python3-venv): %w", err))
	}
	return &Tools{python}
}

var once = sync.OnceValues(func() (string, error) { return tools.Python("sam", requirements) })

// Python returns the command that runs Python with the given arguments, without
// the user's AWS settings.
func (t *Tools) Python(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.python, args...)
	cmd.WaitDelay = time.Minute // in case a child process keeps the pipes open
	cmd.Env = []string{
		"AWS_REGION=" + Region,
		"AWS_DEFAULT_REGION=" + Region,
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"PYTHONUTF8=1",
		"SAM_CLI_TELEMETRY=0",
		"__SAM_CLI_APP_DIR=" + filepath.Join(t.python, "../../settings"), // not the user's
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, "SAM_") && !strings.HasPrefix(kv, "PYTHON") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd
}

//go:embed moto.py
var moto string

// Moto starts moto, a stand-in for AWS, with the stacks of moto.py. It returns the
// environment of [Tools.AWS], in which aws uses moto until the test ends.
func (t *Tools) Moto(tb testing.TB) (env []string) {
	tb.Helper()
	root, err := tools.Root()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := t.Python(context.Background(), "-c", moto, filepath.Join(root, "template.yaml"))
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	var stderr tools.Buffer
	cmd.Stderr = &stderr
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		tb.Fatalf("moto: %v\n%s", err, stderr.String())
	}
	return append(t.AWS(tb), "AWS_ENDPOINT_URL="+strings.TrimSpace(address))
}

// AWS returns the environment of [Tools.Python] with the AWS CLI as the command
// aws. It needs a Unix shell.
func (t *Tools) AWS(tb testing.TB) (env []string) {
	tb.Helper()
	dir := tb.TempDir()
	script := "#!/bin/sh\nexec '" + t.python + "' -m awscli \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "aws"), []byte(script), 0o700); err != nil {
		tb.Fatal(err)
	}
	return append(t.Python(context.Background()).Env, "PATH="+dir+":"+os.Getenv("PATH"))
}

// SAM returns the command that runs the SAM CLI with the given arguments, like
// [Tools.Python]. It avoids the environment's script "sam", which contains the
// path of the temporary folder that it was installed in.
func (t *Tools) SAM(ctx context.Context, args ...string) *exec.Cmd {
	return t.Python(ctx, append([]string{"-m", "samcli"}, args...)...)
}
