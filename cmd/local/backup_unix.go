//go:build unix

package main

import (
	"os"
	"syscall"
)

// backupSignals ask for a backup of the embedded store.
var backupSignals = []os.Signal{syscall.SIGUSR1}
