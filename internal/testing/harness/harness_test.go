package harness

import (
	"os"
	"os/exec"
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

// TestChild needs a command. TestMissing runs it.
func TestChild(t *testing.T) { Need(t, strings.Fields(os.Getenv("NEEDED"))...) }
