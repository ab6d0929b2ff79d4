//go:build unix

// Windows truncates no mapped file.

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// When the data file loses pages, as when someone copies another file over it, a request
// gets 500, and the log one line that says what to do. After that the program doesn't
// start.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, harness.Environ("LOG_LEVEL=error"), dir)
	u := p.user(t)
	plants.postAll(t, u, newPlant())
	file := filepath.Join(dir, "plants.db")
	if err := os.Truncate(file, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	u.expectList(t, 500)
	p.stop(t)
	log := p.Stdout.String()
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, file+": it is damaged") || !strings.Contains(log, "restore a backup") {
		t.Errorf("want one line about the damage in the log:\n%s", log)
	}
	refuses(t, harness.Environ(), dir, nil, file, "it is damaged", "restore a backup")
}
