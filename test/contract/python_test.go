//go:build contract

package contract

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// The tests have their own packages of Python, even if the user's pip installs elsewhere.
func TestPython(t *testing.T) {
	cache, elsewhere := t.TempDir(), t.TempDir()
	settings := "[global]\ntarget = " + elsewhere + "\nprefix = " + elsewhere + "\n[install]\nuser = yes\n"
	file := filepath.Join(cache, "pip.conf")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_CONFIG_FILE", file)
	t.Setenv("XDG_CACHE_HOME", cache)
	python, err := harness.Python("test", []byte("six==1.17.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, ".", harness.Environ(), `"$1" -c 'import six'`, python)
}
