package template

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflow is what these tests read of a workflow of GitHub.
type workflow struct {
	Jobs map[string]struct {
		Needs                    string
		Environment, Concurrency any
		Env                      map[string]string
		Steps                    []struct {
			Name, Uses, Run string
			With            map[string]string
		}
	}
}

func readWorkflow(t *testing.T) (deploy workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/workflows/deploy.yml")), &deploy); err != nil {
		t.Fatal(err)
	}
	return deploy
}

// The jobs of deploy.yml that deploy name no environment, since the roles trust a branch.
// Each has a concurrency group of its own, which only the newest commit enters. A job can
// be run again alone, so each checks that itself, too.
func TestDeployWorkflow(t *testing.T) {
	deploy := readWorkflow(t)
	const check = "stop unless this is the newest"
	for name, job := range deploy.Jobs {
		for _, step := range job.Steps {
			if version := step.With["version"]; strings.Contains(step.Uses, "/setup-sam@") && !strings.Contains(string(requirements), "\naws-sam-cli=="+version+"\n") {
				t.Errorf("deploy.yml: %s installs the SAM CLI %s, not that of test/template/requirements.txt: name the same in both", name, version)
			}
			if step.With["role-to-assume"] == "" {
				continue
			}
			if job.Environment != nil {
				t.Errorf("deploy.yml: %s names an environment. Then its token doesn't name the branch, which the roles trust: remove it", name)
			}
			if job.Concurrency == nil {
				t.Errorf("deploy.yml: two runs of %s may deploy at once: add concurrency", name)
			}
			if !strings.HasPrefix(job.Steps[0].Name, check) {
				t.Errorf("deploy.yml: %s may deploy an old commit: its first step must stop it", name)
			}
		}
	}
	newest, staging := deploy.Jobs["newest"], deploy.Jobs["staging"]
	if newest.Concurrency != nil || newest.Steps == nil || !strings.HasPrefix(newest.Steps[0].Name, check) || staging.Needs != "newest" {
		t.Error("deploy.yml: a run of an old commit may take the place of a newer one that waits for staging: staging must need the job newest, which has no concurrency")
	}
}
