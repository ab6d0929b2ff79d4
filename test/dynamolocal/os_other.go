//go:build !windows

package dynamolocal

import (
	"os/exec"
	"syscall"
)

// detach keeps signals to our process group (Ctrl-C, a kill of all of it) from
// a command that is about to start.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
