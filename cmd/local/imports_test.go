package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Only this program links the embedded store, the token issuer and the docs
// page: none has any business in production.
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
					t.Errorf("%s links %s", fields[0], dep)
				}
			}
		}
	}
	if linked != len(own) {
		t.Errorf("cmd/local links %d of %v: the test looks for the wrong names", linked, own)
	}
}
