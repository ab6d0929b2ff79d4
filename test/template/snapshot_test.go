package template

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

var update = flag.Bool("update", false, "write the snapshots of the stack again")

// What a change of template.yaml changes in the deployed stack shows in the snapshots
// of testdata: the stack with its defaults, and with everything turned on.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	harness.Need(t, "git")
	for name, parameters := range map[string]map[string]string{"defaults": nil, "everything": everything(t)} {
		s := do(t, job{Template: readFile(t, "template.yaml"), Parameters: parameters, Snapshot: true})
		want := filepath.Join("testdata", name+".yaml")
		got := want
		if !*update {
			got = filepath.Join(t.TempDir(), name+".yaml")
		}
		text := "# What CloudFormation makes of template.yaml. `make snapshot` writes this file.\n\n" + s.Snapshot
		if err := os.WriteFile(got, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(want)
		if strings.ReplaceAll(string(b), "\r\n", "\n") == text {
			continue
		}
		diff, _ := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--no-color", "--no-ext-diff", want, got).Output()
		t.Errorf("the deployed stack changes. If you mean that, run make snapshot, and commit %s, too:\n%s", want, diff)
	}
}

// everything returns parameters that turn on everything that the defaults leave out.
func everything(t *testing.T) map[string]string {
	t.Helper()
	all := otherValues(t)
	maps.DeleteFunc(all, func(name, _ string) bool { // what these leave out
		return name == "RollbackAlarms" || strings.HasPrefix(name, "Token") || strings.HasPrefix(name, "Existing")
	})
	return all
}
