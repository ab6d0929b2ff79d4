//go:build !windows

package dynamolocal

import (
	"os/exec"
	"syscall"
)

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
