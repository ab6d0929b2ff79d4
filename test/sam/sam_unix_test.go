//go:build !windows

package sam

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Python that is there but can't make environments, as on a bare Debian.
func TestPythonWithoutVenv(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'ensurepip is not available' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+"/bin")
	err := install("python3", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "ensurepip") {
		t.Errorf("error %v, want Python's own complaint", err)
	}
}
