//go:build unix

package template

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/plantstore/test/tools"
)

// The Makefile builds the function for both processors, as SAM calls it: small,
// since Lambda downloads it for each cold start, and without system libraries.
func TestPackage(t *testing.T) {
	t.Parallel()
	const maxSize = 5 << 20
	tools.Need(t, "make")
	if err := tools.DependOn("api", "cmd/lambda", "internal"); err != nil {
		t.Fatal(err)
	}
	for arch, machine := range map[string]elf.Machine{"arm64": elf.EM_AARCH64, "amd64": elf.EM_X86_64} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "build-"+function, "ARCH="+arch, "ARTIFACTS_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("make build-%s: %v\n%s", function, err, out)
			}
			bootstrap, err := elf.Open(filepath.Join(dir, "bootstrap"))
			if err != nil {
				t.Fatal(err)
			}
			defer bootstrap.Close()
			if bootstrap.Machine != machine {
				t.Errorf("bootstrap is built for %v, want %v", bootstrap.Machine, machine)
			}
			if libraries, err := bootstrap.ImportedLibraries(); len(libraries) > 0 || err != nil {
				t.Errorf("bootstrap needs the libraries %v, %v", libraries, err)
			}
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			if err := z.AddFS(os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if b.Len() > maxSize {
				t.Errorf("the package has %d bytes, want at most %d", b.Len(), maxSize)
			}
		})
	}
}
