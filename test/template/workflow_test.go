package template

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflow is what these tests read of a workflow of GitHub.
type workflow struct {
	Jobs map[string]struct {
		Needs                    any
		Environment, Concurrency any
		Env                      map[string]string
		Outputs                  map[string]string
		Steps                    []step
	}
}

type step struct {
	ID, Name, Uses, Run string
	With                map[string]string
}

// The names of the steps that decide what is deployed. TestDeployedCommit runs them.
const (
	newest   = "take the newest commit of main that is ready"
	descends = "stop unless the commit is the deployed one or descends from it"
)

func readWorkflow(t *testing.T) (deploy workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/workflows/deploy.yml")), &deploy); err != nil {
		t.Fatal(err)
	}
	return deploy
}

// The jobs of deploy.yml that deploy name no environment, since the roles trust a branch.
// Each has a concurrency group of its own. Staging deploys the newest commit that is
// ready, production what staging has deployed, and both only what descends from the
// deployed commit.
func TestDeployWorkflow(t *testing.T) {
	deploy := readWorkflow(t)
	commits := map[string]string{"staging": "main", "production": "${{ needs.staging.outputs.commit }}"} // that are checked out
	for name, job := range deploy.Jobs {
		find := func(match func(step) bool) int { return slices.IndexFunc(job.Steps, match) }
		for _, step := range job.Steps {
			if version := step.With["version"]; strings.Contains(step.Uses, "/setup-sam@") && !strings.Contains(string(requirements), "\naws-sam-cli=="+version+"\n") {
				t.Errorf("deploy.yml: %s installs the SAM CLI %s, not that of test/template/requirements.txt: name the same in both", name, version)
			}
		}
		credentials := find(func(s step) bool { return s.With["role-to-assume"] != "" })
		if credentials < 0 {
			continue
		}
		if job.Environment != nil {
			t.Errorf("deploy.yml: %s names an environment. Then its token doesn't name the branch, which the roles trust: remove it", name)
		}
		if job.Concurrency == nil {
			t.Errorf("deploy.yml: two runs of %s may deploy at once: add concurrency", name)
		}
		if got := job.Steps[0].With; got["ref"] != commits[name] || got["fetch-depth"] != "0" {
			t.Errorf("deploy.yml: %s checks out %q, want %s with its history (fetch-depth: 0)", name, got, commits[name])
		}
		check := find(func(s step) bool { return s.Name == descends })
		if sam := find(func(s step) bool { return strings.HasPrefix(s.Run, "sam deploy ") }); check < credentials || sam < check {
			t.Errorf("deploy.yml: %s may deploy an old commit: between the credentials and sam deploy it needs the step %q", name, descends)
		}
		delete(commits, name)
	}
	if len(commits) > 0 {
		t.Errorf("deploy.yml: nothing deploys %q", commits)
	}
	staging := deploy.Jobs["staging"]
	if staging.Needs != "ready" || deploy.Jobs["ready"].Needs != "test" {
		t.Error("deploy.yml: staging may deploy what isn't tested: it must need the job ready, which needs test")
	}
	if s := staging.Steps[1]; s.Name != newest || staging.Outputs["commit"] != "${{ steps."+s.ID+".outputs.commit }}" {
		t.Errorf("deploy.yml: after the checkout, staging needs the step %q, and its commit as the output of the job", newest)
	}
}
