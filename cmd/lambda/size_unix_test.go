//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// The package must be small, since Lambda downloads it for each cold start.
func TestPackageSize(t *testing.T) {
	t.Parallel()
	const maxSize = 5 << 20 // bytes, compressed as for the upload
	harness.Need(t, "make")
	if err := harness.DependOn("api", "cmd", "internal", "Makefile"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "build-PlantFunction", "ARTIFACTS_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, "bootstrap"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(program) // can't fail, nor can Close
	w.Close()
	if b.Len() > maxSize {
		t.Errorf("the package has %d bytes, want at most %d", b.Len(), maxSize)
	}
}
