//go:build unix

package template

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/tools"
)

// The packages are small, since Lambda downloads them for each cold start, and need
// no system libraries.
func TestPackage(t *testing.T) {
	t.Parallel()
	const maxSize = 5 << 20
	tools.Need(t, "make")
	if err := tools.DependOn("api", "cmd", "internal", "Makefile", "samconfig.toml", "monitoring.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{function, "HookFunction"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "build-"+name, "ARTIFACTS_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("make build-%s: %v\n%s", name, err, out)
			}
			checkProgram(t, filepath.Join(dir, "bootstrap"), elf.EM_AARCH64)
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			if err := z.AddFS(os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil || b.Len() > maxSize {
				t.Errorf("the package has %d bytes, want at most %d; %v", b.Len(), maxSize, err)
			}
		})
	}
}

func checkProgram(t *testing.T, name string, machine elf.Machine) {
	t.Helper()
	bootstrap, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer bootstrap.Close()
	if libraries, err := bootstrap.ImportedLibraries(); bootstrap.Machine != machine || len(libraries) > 0 || err != nil {
		t.Errorf("bootstrap is built for %v and needs the libraries %v, %v; want %v and none", bootstrap.Machine, libraries, err, machine)
	}
}

// SAM builds for the Architecture of the profile, and the built template allows no
// other. The profiles upload to folders of their own, since deleting a stack deletes
// its folder. make delete names the stack that sam deploy --guided has saved.
func TestSAM(t *testing.T) {
	t.Parallel()
	tools.Need(t, "bash", "curl", "make")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	deploy := regexp.MustCompile(`sam deploy [^\n]*\n[^\n]*`).FindString(readFile(t, ".github/workflows/deploy.yml"))
	deploy = regexp.MustCompile(`'\$\{\{.*?BUCKET.*?\}\}'`).ReplaceAllString(strings.ReplaceAll(deploy, "\n", " "), "artifacts")
	cmd := Python(t, filepath.Join(root, "test/template/aws.py"), "bash", "-c", `
		cp -r "$0"/{api,cmd,internal,go.mod,go.sum,Makefile,template.yaml,monitoring.yaml,samconfig.toml} .
		sed -i.old -e 's/"plants"/"guided"/' -e '/production.deploy/,$s/Architecture=arm64/Architecture=\\"x86_64\\"/' samconfig.toml
		sam build
		make build ENV=production
		aws s3 mb s3://artifacts
		for ENV in default production; do `+deploy+`; done # until it creates a change set, for which moto lacks much
		make delete </dev/null`, root)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	for _, want := range []string{
		`samconfig.toml: parameter_overrides need Architecture=`, // sam build knows no profile
		`Uploading to guided/\w+\.template`, `Uploading to plants-production/\w+\.template`, `the stack "guided"`, `delete the stack guided `,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Logf("%v\n%s", err, out)
	}
	for _, name := range []string{function, "HookFunction"} {
		checkProgram(t, filepath.Join(dir, ".aws-sam/build", name, "bootstrap"), elf.EM_X86_64)
	}
	built, err := os.ReadFile(filepath.Join(dir, ".aws-sam/build/template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got := do(t, job{Template: string(built)}).Parameters["Architecture"]; got.Default != "x86_64" || !slices.Equal(got.AllowedValues, []any{"x86_64"}) {
		t.Errorf("the template that was built for x86_64 allows the architectures %q, by default %q", got.AllowedValues, got.Default)
	}
}
