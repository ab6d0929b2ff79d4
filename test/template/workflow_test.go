package template

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The jobs of deploy.yml that deploy name no environment, since the roles trust a branch.
// Each has a concurrency group of its own, which only the newest commit enters. A job can
// be run again alone, so each checks that itself, too.
func TestDeployWorkflow(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Needs       string
			Environment any
			Concurrency any
			Steps       []struct {
				Name string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/workflows/deploy.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	const check = "stop unless this is the newest"
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if step.With["role-to-assume"] == nil {
				continue
			}
			if job.Environment != nil || job.Concurrency == nil {
				t.Errorf("deploy.yml: %s names an environment, or has no concurrency of its own", name)
			}
			if !strings.HasPrefix(job.Steps[0].Name, check) {
				t.Errorf("deploy.yml: %s may deploy an old commit: its first step must stop it", name)
			}
		}
	}
	newest, staging := workflow.Jobs["newest"], workflow.Jobs["staging"]
	if newest.Concurrency != nil || newest.Steps == nil || !strings.HasPrefix(newest.Steps[0].Name, check) || staging.Needs != "newest" {
		t.Error("deploy.yml: a run of an old commit may take the place of a newer one that waits for staging")
	}
}
