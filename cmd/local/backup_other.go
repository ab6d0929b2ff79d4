//go:build !unix

package main

import "os"

// backupSignals is empty where no program can send such a signal.
var backupSignals []os.Signal
