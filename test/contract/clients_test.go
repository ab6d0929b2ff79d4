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
	followGuide(t, 0, "client-go", "go.mod", "go.sum", "main.go")
}

func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	followGuide(t, 1, "client-typescript", ".npmrc", "package.json", "tsconfig.json", "main.ts")
}

var blocks = regexp.MustCompile("\n```sh\n([^`]*)```\n\n```text\n([^`]*)```\n")

// followGuide runs the commands of the guide's nth client, whose files are in
// dir, in a copy of the files that they use.
func followGuide(t *testing.T, n int, dir string, files ...string) {
	t.Helper()
	examples := blocks.FindAllStringSubmatch(read(t, guide), -1)
	if len(examples) != 2 {
		t.Fatalf("%s has %d examples (a sh block, then a text block), want 2", guide, len(examples))
	}
	root := t.TempDir()
	for _, name := range append(files, "../../../api/openapi.yaml") {
		name = filepath.Join("test/contract", dir, name)
		copied := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, []byte(read(t, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := harness.StartServer(t, harness.Environ(), t.TempDir())
	cmd := exec.CommandContext(t.Context(), "sh", "-eu")
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(examples[n][1], "http://127.0.0.1:8080", p.Base))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TOKEN="+p.Token(t, url.Values{"client_id": {"reader"}}))
	if got, want := run(t, cmd), examples[n][2]; !strings.HasSuffix(got, want) { // generators print before
		t.Errorf("%s shows\n%s\nbut the commands print\n%s", guide, want, got)
	}
}

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
