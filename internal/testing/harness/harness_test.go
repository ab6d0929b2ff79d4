package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// The settings of the user's shell reach neither the tests nor their programs, and a proxy
// doesn't get the requests to these.
func TestEnvironment(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = []string{"NO_PROXY=user", "PLANTS_TOKEN_1=user"} // the second is for TestDeployment
	for name := range strings.FieldsSeq(`
		TOKEN_ISSUER REQUIRE_SCOPES LOG_LEVEL CORS_ORIGINS TABLE_NAME ORCHID_TABLE_NAME AWS_PROFILE AWS_CONFIG_FILE
		CONFIG_ENV STACK MAKEFLAGS LOCAL_ISSUER PYTHONPATH SAM_CLI_DEBUG GIT_DIR LC_ALL LANG`) {
		cmd.Env = append(cmd.Env, name+"=user")
	}
	out, err := cmd.CombinedOutput()
	var got []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "user") {
			got = append(got, strings.ToLower(strings.TrimSpace(line))) // Windows has one no_proxy in any case
		}
	}
	want := []string{"no_proxy=user,localhost,127.0.0.1", "plants_token_1=user"}
	slices.Sort(got)
	slices.Sort(want) // a renamed copy has the second first, for example
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%v; of the user's environment the tests have %q, want %q", err, got, want)
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

// TestChild prints its environment and needs a command. Other tests run it.
func TestChild(t *testing.T) {
	fmt.Println(strings.Join(Environ(), "\n"))
	Need(t, strings.Fields(os.Getenv("NEEDED"))...)
}
