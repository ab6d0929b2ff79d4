package template

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflow is what these tests read of a workflow of GitHub.
type workflow struct {
	Jobs map[string]struct {
		If, Needs, Uses          string
		Environment, Concurrency any
		Env                      map[string]string
		Steps                    []step
	}
}

type step struct {
	Name, Uses, If, Run string
	With                map[string]string
	ContinueOnError     any `yaml:"continue-on-error"`
}

const workflowFile = ".github/workflows/deploy.yml"

func readWorkflow(t *testing.T) (deploy workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, workflowFile)), &deploy); err != nil {
		t.Fatal(err)
	}
	return deploy
}

// What is pushed to main goes to staging if its tests pass, and then, once someone approves,
// to production.
func TestDeployGates(t *testing.T) {
	t.Parallel()
	jobs := readWorkflow(t).Jobs
	if tests := jobs["test"].Uses; tests != "./.github/workflows/ci.yml" {
		t.Errorf("deploy.yml: test runs %q, want ci.yml", tests)
	}
	if reviewed := jobs["approval"].Environment; reviewed != "production" {
		t.Errorf("deploy.yml: approval has the environment %v, want production, which requires reviewers", reviewed)
	}
	for _, v := range []struct{ job, needs, condition, why string }{
		{"test", "", "github.event_name == 'push'", "pushed commits must be tested"},
		{"staging", "test",
			"!cancelled() && !failure() && github.ref == 'refs/heads/main' && vars.STAGING_PIPELINE_ROLE != ''",
			"it must deploy only main, and only if the tests pass, or are skipped for a hotfix"},
		{"approval", "staging",
			"!cancelled() && needs.staging.result == 'success' && vars.PRODUCTION_PIPELINE_ROLE != ''",
			"only what staging runs can be approved"},
		{"production", "approval", "!cancelled() && needs.approval.result == 'success'", "somebody must approve it"},
	} {
		job := jobs[v.job]
		condition := strings.TrimSuffix(strings.TrimPrefix(job.If, "${{ "), " }}")
		if job.Needs != v.needs || condition != v.condition {
			t.Errorf("deploy.yml: %s needs %q and runs if %q, want %q and %q: %s",
				v.job, job.Needs, condition, v.needs, v.condition, v.why)
		}
		delete(jobs, v.job)
	}
	if len(jobs) > 0 {
		t.Errorf("deploy.yml: this test doesn't know what guards the jobs %v", jobs)
	}
}

// Staging deploys the commit of the run, if it descends from the deployed one, and then tries it.
func TestStaging(t *testing.T) {
	t.Parallel()
	job := readWorkflow(t).Jobs["staging"]
	if job.Environment != nil {
		t.Error("deploy.yml: staging names an environment. Then its token doesn't name the branch, which the roles trust")
	}
	if job.Concurrency == nil {
		t.Error("deploy.yml: two runs of staging may deploy at once: add concurrency")
	}
	if profile, stack := job.Env["CONFIG_ENV"], job.Env["STACK"]; profile != "default" || stack != "plants" {
		t.Errorf("deploy.yml: staging uses the profile %q and the stack %q, want default and plants", profile, stack)
	}
	want := []string{"actions/checkout@", "make build", "aws-actions/configure-aws-credentials@",
		"git merge-base --is-ancestor", "sam deploy ", "make acceptance-stack"}
	for _, step := range job.Steps {
		if len(want) > 0 && strings.Contains(step.Uses+step.Run, want[0]) {
			want = want[1:]
		}
		if step.If != "" || step.ContinueOnError != nil {
			t.Errorf("deploy.yml: the step %q may be skipped or may fail, and the next one still runs",
				step.Name+step.Uses+step.Run)
		}
		switch {
		case strings.HasPrefix(step.Uses, "actions/checkout@"):
			if step.With["ref"] != "" || step.With["fetch-depth"] != "0" {
				t.Errorf("deploy.yml: staging checks out %q, want the commit of the run with its history (fetch-depth: 0)",
					step.With)
			}
		case strings.Contains(step.Uses, "/setup-sam@"):
			if version := step.With["version"]; !strings.Contains(string(requirements), "\naws-sam-cli=="+version+"\n") {
				t.Errorf("deploy.yml: staging installs the SAM CLI %s, not that of test/template/requirements.txt", version)
			}
		case strings.HasPrefix(step.Run, "sam deploy "):
			// The profile of production asks for confirmation.
			for _, option := range []string{` --config-env "$CONFIG_ENV" `, " --no-confirm-changeset "} {
				if !strings.Contains(step.Run, option) {
					t.Errorf("deploy.yml: add%sto %s", option, step.Run)
				}
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("deploy.yml: staging lacks a step with %q, or it comes too early", want[0])
	}
}

// Production does the same as staging, each with its own names.
func TestProduction(t *testing.T) {
	t.Parallel()
	var deploy struct{ Jobs map[string]map[string]any }
	if err := yaml.Unmarshal([]byte(readFile(t, workflowFile)), &deploy); err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for name, job := range deploy.Jobs {
		delete(job, "needs")
		delete(job, "if")
		b, err := yaml.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		text[name] = string(b)
	}
	if strings.Contains(text["staging"], "PRODUCTION") {
		t.Errorf("deploy.yml: staging uses a variable of production:\n%s", text["staging"])
	}
	names := strings.NewReplacer("vars.STAGING_", "vars.PRODUCTION_",
		"concurrency: staging\n", "concurrency: production\n",
		"CONFIG_ENV: default\n", "CONFIG_ENV: production\n", "STACK: plants\n", "STACK: plants-production\n")
	if want := names.Replace(text["staging"]); text["production"] != want {
		t.Errorf("deploy.yml: production is\n%s\nwant the same as staging:\n%s", text["production"], want)
	}
}
