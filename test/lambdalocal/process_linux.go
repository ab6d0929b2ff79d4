package lambdalocal

import (
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the process when this one exits. A frozen
// process would never exit otherwise.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

func freeze(p *os.Process) { p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) { p.Signal(syscall.SIGCONT) }
