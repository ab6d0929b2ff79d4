package lambdalocal

import (
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent has the process killed when this one ends: one that is frozen
// would stay for ever.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

func freeze(p *os.Process) { p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) { p.Signal(syscall.SIGCONT) }
