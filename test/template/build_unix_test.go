//go:build unix

package template

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/harness"
)

// configured are commands in a copy of the project whose samconfig.toml has two
// profiles: default as sam deploy --guided saves it, with another stack and a region, and
// production with another Architecture.
var configured = []struct{ command, prints string }{
	{"sam build", `Architecture=x86_64, not "arm64 x86_64"`}, // sam build knows no profile
	{"make -n build", `'ARCHITECTURE=arm64' sam build `},
	{"make -n build-PlantFunction", `GOARCH=arm64 go build `},
	{"make delete CONFIG_ENV=dev", `no stack_name for the profile "dev"`},
	{"make -n acceptance-stack", `export AWS_REGION='eu-west-3'`},
	{"make delete", `(?s)the stack "guided".*delete the stack guided in the region eu-west-3`},
	{"make build CONFIG_ENV=production", `Build Succeeded`},
}

// make uses the stack, the region and the Architecture of the profile in samconfig.toml.
// It must notice a command for another stack or region, a program that the function's
// processor can't run, and a built template that allows another processor.
func TestSAM(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "go")
	dir := CopySource(t)
	config := filepath.Join(dir, "samconfig.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	first, production, _ := strings.Cut(string(text), "[production.deploy")
	first = strings.NewReplacer(`"plants"`, `"guided"`, "[default.deploy.parameters]", "[default.deploy.parameters]\nregion = \"eu-west-3\"").Replace(first)
	production = strings.ReplaceAll(production, "Architecture=arm64", `Architecture=\"x86_64\"`)
	if err := os.WriteFile(config, []byte(first+"[production.deploy"+production), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Truncate(time.Second)
	for _, c := range configured {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", c.command)
		cmd.Dir, cmd.Env = dir, Python(t).Env
		if out, err := cmd.CombinedOutput(); !regexp.MustCompile(c.prints).Match(out) { // some fail, as they should
			t.Errorf("%s doesn't print %q, but, %v:\n%s", c.command, c.prints, err, out)
		}
	}
	bootstrap, err := elf.Open(filepath.Join(dir, ".aws-sam/build", function, "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	defer bootstrap.Close()
	if libraries, err := bootstrap.ImportedLibraries(); bootstrap.Machine != elf.EM_X86_64 || len(libraries) > 0 || err != nil {
		t.Errorf("make build: %s is built for %v and needs the libraries %v, %v; want x86_64 and none", function, bootstrap.Machine, libraries, err)
	}
	built, err := os.ReadFile(filepath.Join(dir, ".aws-sam/build/template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := do(t, job{Template: string(built)})
	revision := str(s.Outputs["Revision"], "Value") // without a commit, since the copy has no repository
	if built, err := time.Parse("unknown.060102150405", revision); err != nil || built.Before(began) || built.After(time.Now()) {
		t.Errorf("the build has the revision %q, want unknown and the time of the build, so that each build makes another version", revision)
	}
	if got := s.Parameters["Architecture"]; got.Default != "x86_64" || !slices.Equal(got.AllowedValues, []any{"x86_64"}) {
		t.Errorf("make build: the template that was built for x86_64 allows the architectures %q, by default %q", got.AllowedValues, got.Default)
	}
}
