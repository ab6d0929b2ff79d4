//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/template"
)

// Without the issuer, make start-api says what to start, before it builds anything.
func TestSAMLocalNeedsIssuer(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "curl")
	bin := t.TempDir()
	for _, name := range []string{"docker", "sam"} { // which needn't be installed for this
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho called $0\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "make", "start-api", "LOCAL_ISSUER=http://127.0.0.1:1")
	cmd.Dir = template.CopySource(t)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	const want = "no keys at http://127.0.0.1:1: first start the plain server there, which issues the tokens"
	if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "called") {
		t.Errorf("%v\n%s", err, out)
	}
}
