package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Run runs a command and returns what it printed on standard output. It kills
// the command after timeout. The error includes what the command printed.
func Run(timeout time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // in case a child process keeps the pipes open
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v", timeout)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// OneLine returns the text of err on one line of bounded length. It keeps the
// beginning and the end, where package managers report what went wrong.
func OneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	const most = 300
	if len(s) > 2*most {
		s = s[:most] + " … " + s[len(s)-most:]
	}
	return s
}

// Root returns the top folder of the repository, which the working directory of
// every test is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in this folder or above it")
		}
		dir = parent
	}
}
