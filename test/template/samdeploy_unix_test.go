//go:build unix

package template

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// The jobs of deploy.yml run a sam deploy that works. It must notice that SAM rejects the
// options, uploads to the folder of another stack (deleting a stack deletes its folder),
// takes another region than the job's, or deploys another stack than the one whose
// revision the job has read. Moto lacks too much to create a change set of the template,
// so the command fails there.
func TestSAMDeploy(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "curl")
	aws, err := filepath.Abs("aws.py")
	if err != nil {
		t.Fatal(err)
	}
	vars := strings.NewReplacer( // as GitHub replaces them
		"${{ vars.STAGING_BUCKET }}", "artifacts", "${{ vars.STAGING_CLOUDFORMATION_ROLE }}", "arn:aws:iam::123456789012:role/cloudformation",
		"${{ vars.PRODUCTION_BUCKET }}", "artifacts", "${{ vars.PRODUCTION_CLOUDFORMATION_ROLE }}", "arn:aws:iam::123456789012:role/cloudformation")
	region := "deploy.parameters]\nregion = \"eu-west-3\"" // as sam deploy --guided saves it
	stacks := map[string]string{"staging": "plants", "production": "plants-production"}
	tried := 0
	for name, job := range readWorkflow(t).Jobs {
		for _, step := range job.Steps {
			if !strings.HasPrefix(step.Run, "sam deploy ") {
				continue
			}
			tried++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				run := vars.Replace(step.Run)
				cmd := Python(t, aws, "bash", "-c", "aws s3 mb s3://artifacts >/dev/null; "+run)
				cmd.Dir = t.TempDir() // without a build, SAM packages the folder of the template
				cmd.Env = append(cmd.Env, "CONFIG_ENV="+job.Env["CONFIG_ENV"])
				for name, text := range map[string]string{
					"template.yaml":  readFile(t, "template.yaml"),
					"samconfig.toml": strings.ReplaceAll(readFile(t, "samconfig.toml"), "deploy.parameters]", region),
				} {
					if err := os.WriteFile(filepath.Join(cmd.Dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				out, _ := cmd.CombinedOutput()
				for _, want := range []string{`Stack name +: ` + job.Env["STACK"] + `\n`, `Region +: ` + Region + `\n`, `CAPABILITY_NAMED_IAM`, `Uploading to ` + stacks[name] + `/\w+\.template `} {
					if !regexp.MustCompile(want).Match(out) {
						t.Errorf("with deploy.yml and samconfig.toml, %s\ndoesn't print %q, but\n%s", run, want, out)
					}
				}
			})
		}
	}
	if tried != len(stacks) {
		t.Errorf("deploy.yml has %d steps that begin with sam deploy, but this test knows the stacks %q", tried, stacks)
	}
}
