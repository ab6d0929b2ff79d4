package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// A package in which a test was skipped for lack of a tool runs again, since the tool may
// be installed then. Others are cached.
func TestSkipsRunAgain(t *testing.T) {
	for needed, cached := range map[string]bool{"go": true, "no-such-command": false} {
		var out []byte
		for range 2 {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-run", "^TestChild$", ".")
			cmd.Env = Environ("CI=", "NEEDED="+needed)
			out, _ = cmd.CombinedOutput()
		}
		if text := string(out); !strings.HasPrefix(text, "ok") || strings.Contains(text, "(cached)") != cached {
			t.Errorf("with %s, want ok, cached: %t; got\n%s", needed, cached, text)
		}
	}
}

// The settings of the user's shell reach neither the tests nor their programs, and a proxy
// doesn't get the requests to these.
func TestEnvironment(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = []string{"NO_PROXY=user", "PLANTS_TOKEN_1=user"} // the second is for TestDeployment
	for name := range strings.FieldsSeq(`TOKEN_ISSUER REQUIRE_SCOPES LOG_LEVEL CORS_ORIGINS TABLE_NAME ORCHID_TABLE_NAME AWS_PROFILE AWS_CONFIG_FILE
		CONFIG_ENV STACK REGION MAKEFLAGS LOCAL_ISSUER PYTHONPATH SAM_CLI_DEBUG GIT_DIR LC_ALL LANG`) {
		cmd.Env = append(cmd.Env, name+"=user")
	}
	out, err := cmd.CombinedOutput()
	var got []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "user") {
			got = append(got, strings.ToLower(strings.TrimSpace(line))) // Windows has one no_proxy in any case
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if want := []string{"no_proxy=user,localhost,127.0.0.1", "plants_token_1=user"}; !slices.Equal(got, want) {
		t.Errorf("%v; of the user's environment the tests have %q, want %q", err, got, want)
	}
}

// TestChild prints its environment and needs a command. Other tests run it.
func TestChild(t *testing.T) {
	fmt.Println(strings.Join(Environ(), "\n"))
	Need(t, strings.Fields(os.Getenv("NEEDED"))...)
}

// What a killed process has left is removed, and what others still use is not.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	ended := exec.CommandContext(t.Context(), "go", "version")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{ended.Process.Pid, os.Getpid()} {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("partial-%d-1", pid), "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mine, err := scratch(dir, "partial")
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if want := []string{filepath.Join(dir, fmt.Sprintf("partial-%d-1", os.Getpid())), mine}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%v; there is %q, want %q", err, left, want)
	}
}
