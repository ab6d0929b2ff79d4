package tools

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Run runs a command and returns its standard output. It kills the command after
// timeout. An error includes the output.
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

// OneLine returns the text of err on one line of at most 620 bytes. It keeps the
// start and the end, where package managers report the cause.
func OneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	const half = 300
	if len(s) > 2*half {
		s = s[:half] + " … " + s[len(s)-half:]
	}
	return s
}
