package docs

import (
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// TestWindows types the session of docs/windows.md into a Unix shell, and compares the
// responses with what the page shows. Its curl commands are the same in both shells; the
// test translates the assignments and the two commands that write files. It must notice a
// command of curl that fails, and a response that differs from the page's.
func TestWindows(t *testing.T) {
	harness.Need(t, "sh", "curl")
	_, session, _ := strings.Cut(read(t, "docs/windows.md"), "\n## A first session\n")
	session, _, _ = strings.Cut(session, "\n## ")
	var want, script strings.Builder
	for _, block := range regexp.MustCompile("(?s)\n```(\\w+)\n(.*?)```").FindAllStringSubmatch(session, -1) {
		if block[1] == "powershell" {
			script.WriteString(block[2])
		} else {
			want.WriteString(block[2])
		}
	}
	if want.Len() == 0 {
		t.Fatal("the page has no session")
	}
	p := harness.StartServer(t, harness.Environ(), t.TempDir())
	typed := strings.NewReplacer("curl.exe", "curl", "http://127.0.0.1:8080", p.Base).Replace(script.String())
	typed = regexp.MustCompile(`(?m)^\$(\w+) = `).ReplaceAllString(typed, "$1=")
	typed = regexp.MustCompile(`(?m)^('.*') \| Set-Content (.*)$`).ReplaceAllString(typed, "echo $1 >$2")
	shell := exec.CommandContext(t.Context(), "sh", "-e")
	shell.Dir = t.TempDir()
	shell.Env = harness.Environ("token=" + p.Token(t, url.Values{"client_id": {"alice"}}))
	shell.Stdin = strings.NewReader(typed)
	out, err := shell.CombinedOutput()
	if err != nil || string(out) != want.String() {
		t.Errorf("%v: docs/windows.md shows\n%s\nbut this happens\n%s", err, &want, out)
	}
}
