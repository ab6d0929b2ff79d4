//go:build contract

package contract

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// run runs a command to its end, and returns what it printed.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.WaitDelay = time.Second // in case a child of its own keeps the pipes
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}
