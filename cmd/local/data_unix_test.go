//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// The owner of a directory can replace its files, whatever its mode.
func TestAnotherUsersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a directory away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if err := secureData(dir); err == nil || !strings.Contains(err.Error(), dir+": it belongs to another user: chown it") {
		t.Errorf("got %v", err)
	}
}
