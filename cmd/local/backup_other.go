//go:build !unix

package main

import "os"

// backupSignals is empty, since only Unix has SIGUSR1.
var backupSignals []os.Signal
