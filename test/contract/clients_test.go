//go:build contract

package contract

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/harness"
)

// guide is the page that shows how to generate the clients.
const guide = "docs/clients.md"

// The commands of the guide generate clients that compile, work with the
// service, and print what the guide shows.
func TestGoClient(t *testing.T) {
	t.Parallel()
	followGuide(t, 0, "client-go")
}

func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	followGuide(t, 1, "client-typescript")
}

var blocks = regexp.MustCompile("\n```sh\n([^`]*)```\n\n```text\n([^`]*)```\n")

// followGuide runs the commands of the guide's nth client, whose files are in
// dir, in a copy of the folders that they use.
func followGuide(t *testing.T, n int, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", guide))
	if err != nil {
		t.Fatal(err)
	}
	examples := blocks.FindAllStringSubmatch(string(text), -1)
	if len(examples) != 2 {
		t.Fatalf("%s has %d examples (a sh block, then a text block), want 2", guide, len(examples))
	}
	root := t.TempDir()
	for _, name := range []string{"api", "test/contract/" + dir} {
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join("../..", name))); err != nil {
			t.Fatal(err)
		}
	}
	p := harness.StartServer(t, harness.Environ(), t.TempDir())
	cmd := exec.CommandContext(t.Context(), "sh", "-eu")
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(examples[n][1], "http://127.0.0.1:8080", p.Base))
	cmd.Dir = root
	cmd.Env = harness.Environ("TOKEN=" + p.Token(t, url.Values{"client_id": {"reader"}}))
	if got, want := run(t, cmd), examples[n][2]; !strings.HasSuffix(got, want) { // generators print before
		t.Errorf("%s shows\n%s\nbut the commands print\n%s", guide, want, got)
	}
}

// run runs a command and returns what it prints.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.WaitDelay = time.Minute // in case a child process keeps the pipes open
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}
