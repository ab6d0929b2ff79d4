package template

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/sam"
)

// What is translated is what CloudFormation gets, so it is linted too: in a SAM
// template the linter overlooks values that are not among those allowed.
func TestLint(t *testing.T) {
	template := source(t)
	var jobs []job
	names := slices.Sorted(maps.Keys(scenarios))
	for _, name := range names {
		jobs = append(jobs, job{Translate: template, Parameters: scenarios[name]})
	}
	lints := []job{{Lint: readFile(t, "../../template.yaml")}}
	for i, r := range do(t, jobs...) {
		if r.Error != "" {
			t.Fatalf("%s: %s", names[i], r.Error)
		}
		lints = append(lints, lintTranslated(r.Template))
	}
	for i, r := range do(t, lints...) {
		for _, finding := range r.Findings {
			t.Errorf("%s: %s", append([]string{"template.yaml"}, names...)[i], finding)
		}
	}
}

func lintTranslated(template node) job {
	// W2001: Deployment is used up by the translation.
	return job{Lint: str(template), Ignore: []string{"W2001"}}
}

func TestLintFindsFaultsOfTranslated(t *testing.T) {
	wrong := source(t)
	apply(t, wrong, change{of(function, "Runtime"), "provided.al1999"})
	r := do(t, job{Translate: wrong})[0]
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	findings := do(t, lintTranslated(r.Template))[0].Findings
	if !strings.Contains(strings.Join(findings, "\n"), "provided.al1999") {
		t.Errorf("with the runtime provided.al1999 the findings are %q", findings)
	}
}

func TestLintFindsFaults(t *testing.T) {
	var jobs []job
	faults := []struct{ old, new, want string }{
		{"Handler: bootstrap", "Handlr: bootstrap", "Handlr"},
		{"BillingMode: PAY_PER_REQUEST", "BilingMode: PAY_PER_REQUEST", "BilingMode"},
		{"!Ref PlantTable", "!Ref PlantTabel", "PlantTabel"},
		{"    UpdateReplacePolicy: Retain\n", "", "UpdateReplacePolicy"},
		{"HasCors: ", "HasNothing: ", "HasCors"},
	}
	text := readFile(t, "../../template.yaml")
	for _, f := range faults {
		if !strings.Contains(text, f.old) {
			t.Fatalf("the template has no %q", f.old)
		}
		jobs = append(jobs, job{Lint: strings.ReplaceAll(text, f.old, f.new)})
	}
	for i, r := range do(t, jobs...) {
		if !strings.Contains(strings.Join(r.Findings, "\n"), faults[i].want) {
			t.Errorf("with %q for %q the findings are %q", faults[i].new, faults[i].old, r.Findings)
		}
	}
}

func TestSAMValidate(t *testing.T) {
	tools := sam.Open(t)
	validate := func(file string) (string, error) {
		var out bytes.Buffer
		cmd := tools.SAM(t.Context(), "validate", "--lint", "--template", file)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	file, err := filepath.Abs("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := validate(file); err != nil {
		t.Errorf("sam validate --lint: %v\n%s", err, out)
	}
	wrong := filepath.Join(t.TempDir(), "template.yaml")
	text := strings.Replace(readFile(t, file), "Timeout: 10", "Timeout: 9999", 1)
	if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := validate(wrong); err == nil || !strings.Contains(out, "9999") {
		t.Errorf("sam validate --lint takes a time-out of 9999 s: %v\n%s", err, out)
	}
}
