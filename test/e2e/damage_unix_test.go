//go:build unix

// Windows truncates no mapped file.

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// When the data file loses pages, as when someone copies another file over it, the next
// request ends the program, which says what to do. After that it doesn't start.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &server{harness.StartServer(t, harness.Environ(), dir)} // start would object to the stack
	u := p.user(t)
	plants.postAll(t, u, newPlant())
	file := filepath.Join(dir, "plants.db")
	if err := os.Truncate(file, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if a, _ := u.send(t, request{Method: http.MethodGet, Target: "/plants"}, 0); a.status != 0 {
		t.Errorf("a request is answered:\n%d %s", a.status, a.body)
	}
	code := p.Wait()
	text := p.Stderr.String()
	_, text, _ = strings.Cut(text, "\nthe data file "+file+" can't be read, ")
	line, stack, _ := strings.Cut(text, "\n\n")
	if code != 1 || !strings.Contains(line, "restore a backup") || strings.Contains(line, "\n") || !strings.HasPrefix(stack, "goroutine ") {
		t.Errorf("exit code %d, want 1 after a line about the file and the stack:\n%s", code, p.Stderr.String())
	}
	refuses(t, harness.Environ(), dir, nil, file, "it is damaged", "restore a backup")
}
