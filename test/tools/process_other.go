//go:build !unix

package tools

import "os/exec"

func newSession(*exec.Cmd) {}

func killSession(cmd *exec.Cmd) { cmd.Process.Kill() }
