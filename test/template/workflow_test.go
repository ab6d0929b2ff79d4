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
		Needs                    string
		Environment, Concurrency any
		Env                      map[string]string
		Steps                    []step
	}
}

type step struct {
	Name, Uses, Run string
	With            map[string]string
}

// descends is the step that refuses an old commit. TestDeployedCommit runs it.
const descends = "stop unless the commit is the deployed one or descends from it"

func readWorkflow(t *testing.T) (deploy workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/workflows/deploy.yml")), &deploy); err != nil {
		t.Fatal(err)
	}
	return deploy
}

// The jobs of deploy.yml that deploy name no environment, since the roles trust a branch.
// Each has a concurrency group of its own, and deploys the commit of the run, if that
// descends from the deployed one and has been tested.
func TestDeployWorkflow(t *testing.T) {
	t.Parallel()
	deploy := readWorkflow(t)
	needs := map[string]string{"staging": "test", "approval": "staging", "production": "approval"}
	for name, job := range deploy.Jobs {
		if job.Needs != needs[name] {
			t.Errorf("deploy.yml: %s needs %q, want %q, or it may deploy what isn't tested or approved", name, job.Needs, needs[name])
		}
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
		if got := job.Steps[0].With; got["ref"] != "" || got["fetch-depth"] != "0" {
			t.Errorf("deploy.yml: %s checks out %q, want the commit of the run with its history (fetch-depth: 0)", name, got)
		}
		check := find(func(s step) bool { return s.Name == descends })
		if sam := find(func(s step) bool { return strings.HasPrefix(s.Run, "sam deploy ") }); check < credentials || sam < check {
			t.Errorf("deploy.yml: %s may deploy an old commit: between the credentials and sam deploy it needs the step %q", name, descends)
		}
		delete(needs, name)
	}
	delete(needs, "approval")
	if len(needs) > 0 {
		t.Errorf("deploy.yml: nothing deploys %q", needs)
	}
}
