// Package docs follows the documents as a reader would.
package docs

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

// TestREADME types the shell sessions of the README into a shell, against a new
// server, and holds what comes back to what the README shows.
func TestREADME(t *testing.T) {
	for _, command := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(command); err != nil {
			tools.Missing(t, fmt.Errorf("the README's session needs %s: %w", command, err))
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, script strings.Builder
	for _, block := range regexp.MustCompile("(?s)\n```console\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		want.WriteString(block[1])
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				script.WriteString("cat <<'LINE'\n" + line + "LINE\n" + command)
			}
		}
	}
	if want.Len() == 0 {
		t.Fatal("the README has no shell session")
	}
	shell := exec.CommandContext(t.Context(), "sh")
	const documented = "http://127.0.0.1:8080"
	base := program.Start(t, program.Environ(), t.TempDir()).Base
	shell.Stdin = strings.NewReader(strings.ReplaceAll(script.String(), documented, base))
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.NewReplacer(base, documented, "\r\n", "\n").Replace(string(out))
	if got != want.String() {
		t.Errorf("the README shows\n%s\nbut this happens\n%s", &want, got)
	}
}
