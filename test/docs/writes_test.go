package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Commands that readers run in a clone write nothing into it, except where git ignores it.
func TestWrites(t *testing.T) {
	writes := regexp.MustCompile(`(?: >|Set-Content | -o )([\w.][^\s` + "`" + `]*)`)
	allowed := regexp.MustCompile(`^(\.\./|bin/)`)
	pages, _ := filepath.Glob("../../docs/*.md")
	for _, page := range append(pages, "../../README.md") {
		name, _ := filepath.Rel("../..", page)
		for _, code := range codeOf(read(t, name)) {
			for command := range strings.Lines(strings.ReplaceAll(code, "\\\n", "")) {
				for _, file := range writes.FindAllStringSubmatch(command, -1) {
					if !allowed.MatchString(file[1]) {
						t.Errorf("%s: %s writes %s, perhaps into the clone", name, command, file[1])
					}
				}
				if strings.Contains(command, " generate ") && !strings.Contains(command, " -o ") {
					t.Errorf("%s: %s doesn't say where it writes", name, command)
				}
			}
		}
	}
}
