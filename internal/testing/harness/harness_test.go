package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// A test that lacks a tool is skipped, and fails with CI=true. It says which tool either way.
func TestMissing(t *testing.T) {
	for ci, want := range map[string]string{"": "--- SKIP", "true": "--- FAIL"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
		cmd.Env = Environ("CI="+ci, "NEEDED=no-such-command")
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || !strings.Contains(string(out), "no no-such-command: install it") {
			t.Errorf("with CI=%q, want %q and the missing tool; got\n%s", ci, want, out)
		}
	}
}

// Temporary files are where Go has its own, in case programs in TMPDIR can't be executed. Programs that
// print real paths print those of the tests.
func TestTempDir(t *testing.T) {
	parent := t.TempDir()
	link := filepath.Join(parent, "link")
	if err := os.Symlink(parent, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOTMPDIR", link)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // tempDir changes them
		t.Setenv(name, "/tmp")
	}
	dir, err := tempDir()
	if err != nil || filepath.Dir(dir) != parent || os.TempDir() != dir {
		t.Errorf("the temporary folder is %s, and that of programs %s, want one in %s, %v", dir, os.TempDir(), parent, err)
	}
}

// TestChild needs a command. TestMissing runs it.
func TestChild(t *testing.T) { Need(t, strings.Fields(os.Getenv("NEEDED"))...) }
