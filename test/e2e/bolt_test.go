package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// A second process on the same data does not start, and does not disturb the
// first one. Nor does one that can't have its port.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, harness.Environ(), dir)
	refuses(t, harness.Environ(), dir, nil, filepath.Join(dir, "plants.db"), "another process")
	addr := strings.TrimPrefix(p.Base, "http://")
	refuses(t, harness.Environ(), t.TempDir(), []string{"-addr", addr}, "-addr", addr, "free port")
	u, basil := p.user(t), newPlant()
	plants.postAll(t, u, basil)
	plants.expect(t, u, basil)
}

// Tokens and plants outlive a restart, even if the port changes. Tokens of
// another data directory are invalid. With LOG_LEVEL=error, none of this is
// logged.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, harness.Environ("LOG_LEVEL=error"), dir)
	u, basil := p.user(t), newPlant()
	plants.postAll(t, u, basil)
	p.stop(t)
	printed := regexp.MustCompile(`(?s)\nplants are kept in [^\n]+plants\.db \(to start over.* TOKEN=\$\(curl .*\nstopped\n$`)
	if text := p.Stderr.String(); !printed.MatchString(text) {
		t.Errorf("it prints:\n%s\nwant %s", text, printed)
	}
	if log := p.Stdout.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
	again, other := start(t, harness.Environ(), dir), start(t, harness.Environ(), t.TempDir())
	plants.expect(t, newClient(again.target(), u.token), basil)
	newClient(other.target(), u.token).expectList(t, 401)
}
