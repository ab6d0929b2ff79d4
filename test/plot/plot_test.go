package plot

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// make plots and make bench set this flag.
var update = flag.Bool("update", false, "draw the plots again")

// The plots and the table of docs/benchmarks.md are those of the newest numbers.
func TestPlots(t *testing.T) {
	files := map[string]string{}
	err := errors.Join(
		drawCosts(files, read(t, "docs/costs.md")),
		drawBenchmarks(files, []byte(read(t, "docs/benchmarks.json")), read(t, "docs/benchmarks.md")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if *update {
			if err := os.WriteFile(filepath.Join("../..", name), []byte(want), 0o666); err != nil {
				t.Error(err)
			}
		} else if read(t, name) != want {
			t.Errorf("%s is older than docs/benchmarks.json and docs/costs.md: run make plots", name)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil && !*update {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
