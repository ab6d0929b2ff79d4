//go:build unix

package harness

import "syscall"

// The server refuses a data directory that others can write to, which the directories
// of tests would be with umask 002, the default of some systems.
func init() { syscall.Umask(0o022) }
