//go:build unix

package template

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// Without Python, make snapshot fails and says what to install. It must notice an "ok"
// for snapshots that weren't written, since the test that writes them was skipped.
func TestSnapshotWithoutPython(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "go")
	if err := harness.DependOn("Makefile"); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "snapshot")
	cmd.Env = harness.Environ("CI=", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "install Python") {
		t.Errorf("make snapshot without Python: %v, want an error that says to install Python\n%s", err, out)
	}
}
