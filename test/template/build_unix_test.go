//go:build unix

package template

import (
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// SAM builds for the Architecture of the profile, and the built template allows no
// other. The programs need no system libraries. The profiles upload to folders of their
// own, since deleting a stack deletes its folder. make uses the stack and the region that
// sam deploy --guided has saved, and the workflow its own region.
func TestSAM(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "curl", "make")
	if err := harness.DependOn("go.mod", "go.sum", "api", "cmd", "internal"); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	workflow := strings.NewReplacer("CONFIG_ENV: ", "export CONFIG_ENV=", "\n          --s3", " --s3").Replace(readFile(t, ".github/workflows/deploy.yml"))
	for _, version := range regexp.MustCompile(`version: ([\d.]+), use-installer`).FindAllStringSubmatch(workflow, -1) {
		if pin := "\naws-sam-cli==" + version[1] + "\n"; !strings.Contains(string(requirements), pin) {
			t.Errorf("deploy.yml installs another SAM CLI than test/template/requirements.txt: %s", version[1])
		}
	}
	deploy := strings.Join(regexp.MustCompile(`export CONFIG_ENV=\w+|sam deploy .*`).FindAllString(workflow, -1), "\n")
	deploy = regexp.MustCompile(`'\$\{\{.*?BUCKET.*?\}\}'`).ReplaceAllString(deploy, "artifacts")
	cmd := Python(t, filepath.Join(root, "test/template/aws.py"), "bash", "-c", `
		cp -r "$0"/{api,cmd,internal,go.mod,go.sum,Makefile,template.yaml,samconfig.toml} .
		sed -i.old -e 's/"plants"/"guided"/' -e '/production.deploy/,$s/Architecture=arm64/Architecture=\\"x86_64\\"/' \
			-e 's/^fail_on_empty_changeset.*/region = "eu-west-3"/' samconfig.toml # as sam deploy --guided does
		sam build
		make -n build build-PlantFunction ENV=dev
		make delete CONFIG_ENV=dev
		make build CONFIG_ENV=production
		make -n build
		aws s3 mb s3://artifacts
		`+deploy+` # until it creates a change set, for which moto lacks much
		make -n check-deployed
		export CONFIG_ENV=default
		make delete </dev/null`, root)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	for _, want := range []string{
		`Architecture=x86_64, not "arm64 x86_64"`, // sam build knows no profile
		`'ARCHITECTURE=arm64' sam build `, `GOARCH=arm64 go build `,
		`(?s)NAMED_IAM.*Uploading to guided/\w+\.template.*NAMED_IAM.*Uploading to plants-production/\w+\.template`,
		`(?s)Region +: ` + Region + `.*Region +: ` + Region, // that of the workflow
		`no stack_name for the profile "dev"`, `export AWS_REGION='eu-west-3'`,
		`the stack "guided"`, `delete the stack guided `,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Logf("%v\n%s", err, out)
	}
	for _, name := range []string{function, "HookFunction"} {
		dir := filepath.Join(dir, ".aws-sam/build", name)
		bootstrap, err := elf.Open(filepath.Join(dir, "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		defer bootstrap.Close()
		if libraries, err := bootstrap.ImportedLibraries(); bootstrap.Machine != elf.EM_X86_64 || len(libraries) > 0 || err != nil {
			t.Errorf("%s is built for %v and needs the libraries %v, %v; want x86_64 and none", name, bootstrap.Machine, libraries, err)
		}
	}
	built, err := os.ReadFile(filepath.Join(dir, ".aws-sam/build/template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := do(t, job{Template: string(built)})
	revision := str(s.Outputs["Revision"], "Value")
	if later := regexp.MustCompile(`Revision: "(unknown\.\d{12})"`).FindAllSubmatch(out, -1); !regexp.MustCompile(`^unknown\.\d{12}$`).MatchString(revision) ||
		len(later) == 0 || revision >= string(later[len(later)-1][1]) {
		t.Errorf("the build has the revision %q, and a later one %q", revision, later)
	}
	if got := s.Parameters["Architecture"]; got.Default != "x86_64" || !slices.Equal(got.AllowedValues, []any{"x86_64"}) {
		t.Errorf("the template that was built for x86_64 allows the architectures %q, by default %q", got.AllowedValues, got.Default)
	}
}
