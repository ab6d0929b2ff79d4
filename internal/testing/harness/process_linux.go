package harness

import "syscall"

// The kernel ends a program when this process ends. If the program is stopped then,
// only a process group of its own lets the kernel wake it.
func init() { attributes = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} }
