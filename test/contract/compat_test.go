//go:build contract

package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compat.sh compares with the last release, else with the last document of
// another version, else with the document before the last change.
func TestCompatibility(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Dir = root
		run(t, cmd)
	}
	// compare runs compat.sh with a command that prints the earlier document.
	compare := func(want string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "test/contract/compat.sh", "sh", "-c", `echo "$0"; cat "$4"`)
		cmd.Dir, cmd.Path = root, filepath.Join(root, "test/contract/compat.sh")
		if got := run(t, cmd); !strings.Contains(got, want) {
			t.Errorf("compat.sh prints %q, want %q", got, want)
		}
	}
	document := func(version, title string) {
		t.Helper()
		write("api/openapi.yaml", "info:\n  title: "+title+"\n  version: "+version+"\n")
	}

	write("test/contract/compat.sh", read(t, "test/contract/compat.sh"))
	git("init", "--quiet")
	document("1.0.0", "first")
	git("add", ".")
	git("commit", "--quiet", "-m", "first")
	compare("nothing to compare with")

	document("1.0.0", "second")
	compare("title: first")
	git("commit", "--quiet", "-am", "second")
	compare("title: first")
	document("1.1.0", "third")
	git("commit", "--quiet", "-am", "third")
	document("1.1.0", "fourth")
	git("commit", "--quiet", "-am", "fourth")
	compare("title: second")

	git("tag", "v1.0.0", "HEAD~3")
	compare("title: first")
}
