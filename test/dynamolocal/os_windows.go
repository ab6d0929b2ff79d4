package dynamolocal

import (
	"os/exec"
	"syscall"
)

// detach keeps Ctrl-C from a command that is about to start.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
