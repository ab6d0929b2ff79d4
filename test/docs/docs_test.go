// Package docs follows the documents as a reader would.
package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

func TestMain(m *testing.M) { harness.Main(m) }

// blocks matches a block of commands, also in a list, and the block that follows it, with what they print.
var blocks = regexp.MustCompile("(?s)\n *```sh\n(.*?) *```\n(?:\n```text\n(.*?)```)?")

// TestSession pastes the blocks of the pages that show what they print into a shell, and compares.
// The server is the same for both shells, so the session also leaves nothing behind.
func TestSession(t *testing.T) {
	const base, command = "http://127.0.0.1:8080", "go run ./cmd/local"
	harness.Need(t, "bash", "curl")
	p := plainserver.Start(t, harness.Environ(), t.TempDir())
	for _, shell := range []string{"bash", "zsh -i -f +o promptsp"} { // interactive, but without a prompt
		t.Run(shell, func(t *testing.T) {
			args := strings.Fields(shell)
			harness.Need(t, args[0])
			const end = "\n-- the end of a block --\n"
			var script, want strings.Builder
			for _, page := range []string{"README.md", "docs/interface.md", "docs/configuration.md"} {
				for _, block := range blocks.FindAllStringSubmatch(read(t, page), -1) {
					if block[2] != "" {
						script.WriteString(block[1] + "printf " + strconv.Quote(end) + "\n")
						want.WriteString(block[2] + end)
					}
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.WaitDelay = time.Second // in case its curl keeps the pipes open
			cmd.Env = harness.Environ("PS1=", "PS2=", "HOME="+t.TempDir())
			cmd.Stdin = strings.NewReader(strings.NewReplacer(base, p.Base, command, p.Cmd.Path).Replace(script.String()))
			out, err := cmd.CombinedOutput()
			got := strings.NewReplacer(p.Base, base, p.Cmd.Path, command, "\r\n", "\n").Replace(string(out))
			if err != nil || got != want.String() {
				t.Errorf("the pages show\n%s\nbut this happens (%v): correct them by hand\n%s", &want, err, got)
			}
		})
	}
}

// TestBlocks checks that every block of commands can be pasted into a shell.
func TestBlocks(t *testing.T) {
	harness.Need(t, "bash")
	pages, _ := filepath.Glob("../../docs/*.md")
	for _, page := range append(pages, "../../README.md") {
		name, _ := filepath.Rel("../..", page)
		for _, block := range blocks.FindAllStringSubmatch(read(t, name), -1) {
			cmd := exec.Command("bash", "-n")
			cmd.Stdin = strings.NewReader(block[1])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", name, err, out, block[1])
			}
			if bad := regexp.MustCompile(`(?m)^\s*[#$] .*`).FindString(block[1]); bad != "" {
				t.Errorf("%s: zsh takes neither comments nor prompts: %s", name, bad)
			}
		}
	}
}

var (
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)|src(?:set)?="([^"]+)"`)
	sections = regexp.MustCompile(`docs/\w+\.md#[\w-]+`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	targets  = regexp.MustCompile(`(?m)\bmake ([a-z-]+)`)
	paths    = regexp.MustCompile("`((?:api|cmd|docs|internal|test|\\.github)/[\\w./-]+)`")
)

// TestLinks checks that every link and path to a file of the repository has a
// target, that the README links to every page, and that every make target exists,
// those in workflows too.
func TestLinks(t *testing.T) {
	pages, _ := filepath.Glob("../../docs/*.md")
	workflows, _ := filepath.Glob("../../.github/workflows/*.yml")
	if len(pages) == 0 || len(workflows) == 0 {
		t.Fatal("no pages or workflows")
	}
	for _, file := range append(workflows, "../../template.yaml") {
		name, _ := filepath.Rel("../..", file)
		text := read(t, name)
		if name != "template.yaml" { // whose comments use the verb
			checkTargets(t, name, text)
		}
		for _, section := range sections.FindAllString(text, -1) {
			checkLink(t, filepath.Base(name), section)
		}
	}
	for _, page := range append(pages, "../../README.md", "../../SECURITY.md") {
		name, _ := filepath.Rel("../..", page)
		text := read(t, name)
		prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "") // f[T](x) isn't a link
		for _, link := range links.FindAllStringSubmatch(prose, -1) {
			checkLink(t, name, link[1]+link[2])
		}
		for _, path := range paths.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../..", path[1])); err != nil {
				t.Errorf("%s: there is no %s", name, path[1])
			}
		}
		checkTargets(t, name, strings.Join(codeOf(text), "\n"))
		if name != "README.md" && !strings.Contains(read(t, "README.md"), "("+filepath.ToSlash(name)+")") {
			t.Errorf("README.md has no link to %s: add it to the table of documents", name)
		}
	}
}

func checkTargets(t *testing.T, name, code string) {
	t.Helper()
	for _, target := range targets.FindAllStringSubmatch(code, -1) {
		if !strings.Contains(read(t, "Makefile"), "\n"+target[1]+":") {
			t.Errorf("%s: the Makefile has no target %s", name, target[1])
		}
	}
}

func checkLink(t *testing.T, page, link string) {
	t.Helper()
	path, anchor, _ := strings.Cut(link, "#")
	if strings.Contains(link, "://") || strings.HasPrefix(link, "../../actions/") { // the latter on GitHub
		return
	}
	file := page
	if path != "" {
		file = filepath.Join(filepath.Dir(page), path)
	}
	if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
		t.Errorf("%s: no file for the link %s", page, link)
		return
	}
	found := func(heading []string) bool { return anchorOf(heading[1]) == anchor }
	if anchor != "" && !slices.ContainsFunc(headings.FindAllStringSubmatch(read(t, file), -1), found) {
		t.Errorf("%s: %s has no heading for the link %s", page, file, link)
	}
}

// anchorOf returns the anchor that GitHub gives a heading.
func anchorOf(heading string) string {
	heading = regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}

// codeOf returns the code in a page: blocks and spans.
func codeOf(text string) []string {
	return regexp.MustCompile("(?s)```.*?```|`[^`\n]+`").FindAllString(text, -1)
}

// read returns the text of a file, named from the top of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
