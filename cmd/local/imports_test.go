package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The embedded store, the token issuer and the docs page are for local use, and
// must not be linked into any other program.
func TestOnlyThisProgramLinks(t *testing.T) {
	const module = "example.com/plantstore/"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := []string{
		module + "internal/bolt", "go.etcd.io/bbolt",
		module + "internal/issuer",
		module + "internal/docs", "github.com/swaggest/swgui/v5/static",
	}
	linked := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for _, dep := range fields[1:] {
			for _, one := range own {
				switch {
				case dep != one:
				case fields[0] == module+"cmd/local":
					linked++
				case !slices.Contains(own, fields[0]):
					t.Errorf("%s imports %s, which only cmd/local may do", fields[0], dep)
				}
			}
		}
	}
	if linked != len(own) {
		t.Errorf("cmd/local links %d of %v: correct the names in this test", linked, own)
	}
}
