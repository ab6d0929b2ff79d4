package main

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestAnotherUsersFile(t *testing.T) {
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	const path, want = "/proc/version", "/proc/version: operation not permitted: if it belongs to another user, chown it, or choose another"
	if err := secureFile(path); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
