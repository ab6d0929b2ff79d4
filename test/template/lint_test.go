package template

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/sam"
)

func TestLint(t *testing.T) {
	t.Parallel()
	text := readFile(t, "template.yaml")
	for _, finding := range do(t, job{Lint: text}).Findings {
		t.Errorf("template.yaml: %s", finding)
	}
	// Findings of a broken template show that the linter works.
	broken := strings.ReplaceAll(text, "!Ref PlantTable", "!Ref NoSuchTable")
	if found := do(t, job{Lint: broken}).Findings; !strings.Contains(strings.Join(found, "\n"), "NoSuchTable") {
		t.Errorf("the linter doesn't find a reference to a table that doesn't exist: %q", found)
	}
}

func TestSAMValidate(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	readFile(t, "template.yaml") // for the test cache
	if out, err := sam.Open(t).SAM(t.Context(), "validate", "--lint", "--template", file).CombinedOutput(); err != nil {
		t.Errorf("sam validate --lint: %v\n%s", err, out)
	}
}

// The deployment watches alarms that exist, and they watch the alias that it
// updates. The linter doesn't check names.
func TestDeploymentAlarms(t *testing.T) {
	t.Parallel()
	s := deploy(t, nil)
	var names []string
	alias := str(s.Resources[function+"Aliaslive"].Properties, "Name")
	for name, r := range s.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		names = append(names, str(r.Properties, "AlarmName"), "${"+name+"}")
		for _, d := range list(r.Properties, "Dimensions") {
			if value := str(d, "Value"); str(d, "Name") == "Resource" && value != "${"+function+"}:"+alias {
				t.Errorf("template.yaml: %s watches %s, but the alias is called %q", name, value, alias)
			}
		}
	}
	watched := list(s.Resources[function+"DeploymentGroup"].Properties, "AlarmConfiguration", "Alarms")
	if len(watched) != 2 {
		t.Errorf("template.yaml: the deployment watches %d alarms, want 2", len(watched))
	}
	for _, alarm := range watched {
		if name := str(alarm, "Name"); !slices.Contains(names, name) {
			t.Errorf("template.yaml: the deployment watches the alarm %s, which doesn't exist", name)
		}
	}
}
