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
)

// maxPackage is what the function may weigh: Lambda fetches it for each cold
// start.
const maxPackage = 5 << 20

// The function is built for either processor by the Makefile, as SAM does it,
// and is a light package without a need of the system's libraries.
func TestPackage(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"arm64": elf.EM_AARCH64, "amd64": elf.EM_X86_64} {
		t.Run(arch, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "make", "-C", "..", "build-PlantFunction", "ARCH="+arch, "ARTIFACTS_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			bootstrap, err := elf.Open(filepath.Join(dir, "bootstrap"))
			if err != nil {
				t.Fatal(err)
			}
			defer bootstrap.Close()
			if bootstrap.Machine != machine {
				t.Errorf("it is for %v, want %v", bootstrap.Machine, machine)
			}
			if libraries, err := bootstrap.ImportedLibraries(); len(libraries) > 0 {
				t.Errorf("it needs %v, %v", libraries, err)
			}
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			if err := z.AddFS(os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if b.Len() > maxPackage || b.Len() < 1<<20 {
				t.Errorf("the package has %d bytes, want at most %d", b.Len(), maxPackage)
			}
		})
	}
}
