package dynamolocal

import "os/exec"

// killGroup kills the process alone: Windows has no such groups.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
