package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// Folders that killed processes have left are removed, but not those of a download in progress.
func TestRemoveAbandoned(t *testing.T) {
	cache := t.TempDir()
	for _, name := range []string{"partial-1", "partial-2", "sam"} {
		if err := os.Mkdir(filepath.Join(cache, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"partial-1", "sam"} {
		if err := os.Chtimes(filepath.Join(cache, name), time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	removeAbandoned(cache)
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) != 2 || filepath.Base(left[0]) != "partial-2" {
		t.Errorf("%q are left, want partial-2 and sam", left)
	}
}

// TestChild needs a command. TestMissing runs it.
func TestChild(t *testing.T) { Need(t, strings.Fields(os.Getenv("NEEDED"))...) }
