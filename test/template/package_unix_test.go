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

// The Makefile builds the functions for both processors, as SAM calls it: small,
// since Lambda downloads them for each cold start, and without system libraries.
func TestPackage(t *testing.T) {
	t.Parallel()
	const maxSize = 5 << 20
	tools.Need(t, "make")
	if err := tools.DependOn("api", "cmd", "internal"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		function, arch string
		machine        elf.Machine
	}{
		{function, "arm64", elf.EM_AARCH64},
		{function, "amd64", elf.EM_X86_64},
		{"HookFunction", "arm64", elf.EM_AARCH64},
	} {
		t.Run(tt.function+" "+tt.arch, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "build-"+tt.function, "ARCH="+tt.arch, "ARTIFACTS_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("make build-%s: %v\n%s", tt.function, err, out)
			}
			bootstrap, err := elf.Open(filepath.Join(dir, "bootstrap"))
			if err != nil {
				t.Fatal(err)
			}
			defer bootstrap.Close()
			if bootstrap.Machine != tt.machine {
				t.Errorf("bootstrap is built for %v, want %v", bootstrap.Machine, tt.machine)
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
