//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// newSession starts the command in a session of its own. There Ctrl-C doesn't stop
// it before it has cleaned up.
func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killSession(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
