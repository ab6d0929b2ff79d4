package template

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

var update = flag.Bool("update", false, "write the snapshots of the stack again")

// everything returns parameters that turn on everything that the defaults leave out.
func everything(t *testing.T) map[string]string {
	t.Helper()
	all := otherValues(t)
	maps.DeleteFunc(all, func(name, _ string) bool { // these leave something out
		return name == "RollbackAlarms" || strings.HasPrefix(name, "Token") || strings.HasPrefix(name, "Existing")
	})
	return all
}

// everythingElse returns parameters that also leave out what can be left out.
func everythingElse(t *testing.T) map[string]string {
	t.Helper()
	all := otherValues(t)
	delete(all, "MachineClient") // it needs the user pool
	delete(all, "RequireScopes") // the default differs from that with the user pool
	return all
}

// What a change of template.yaml changes in the deployed stack shows in the snapshots of
// testdata: the stack with the defaults, and with everything turned on.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	harness.Need(t, "git")
	text := readFile(t, "template.yaml")
	checkSnapshot(t, "defaults", job{Template: text})
	checkSnapshot(t, "everything", job{Template: text, Parameters: everything(t)})
}

func checkSnapshot(t *testing.T, name string, j job) {
	t.Helper()
	j.Snapshot = true
	s := do(t, j)
	want := filepath.Join("testdata", name+".yaml")
	got := want
	if !*update {
		got = filepath.Join(t.TempDir(), name+".yaml")
	}
	text := "# What CloudFormation makes of template.yaml. `make snapshot` writes this file.\n\n" + s.Snapshot
	if err := os.WriteFile(got, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(want)
	if strings.ReplaceAll(string(b), "\r\n", "\n") == text {
		return
	}
	cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--no-color", "--no-ext-diff", want, got)
	diff, _ := cmd.Output()
	t.Errorf("the deployed stack changes. If you mean that, run make snapshot, and commit %s, too:\n%s", want, diff)
}

// With an issuer and a table of one's own, there is no other pool or table. Without
// RollbackAlarms, no alarm rolls a deployment back.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	s := deploy(t, everythingElse(t))
	for name, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::Cognito::") || r.Type == "AWS::DynamoDB::Table" {
			t.Errorf("template.yaml: %s is created, although the stack has one already", name)
		}
		alarms := str(r.Properties, "AlarmConfiguration")
		if r.Type == "AWS::CodeDeploy::DeploymentGroup" && alarms != "{}" { // without it, the group would keep its alarms
			t.Errorf("template.yaml: %s has the alarms %s, want none", name, alarms)
		}
	}
}

// In AWS GovCloud (US), ARNs have another partition. A snapshot doesn't show it of a new resource,
// since "arn:aws:" is right in most regions. The token endpoint has another host there:
// https://docs.aws.amazon.com/govcloud-us/latest/UserGuide/govcloud-cog.html
func TestPartitions(t *testing.T) {
	t.Parallel()
	s := do(t, job{Template: readFile(t, "template.yaml"), Parameters: everything(t), Region: "us-gov-west-1"})
	for name, r := range s.Resources {
		for _, arn := range regexp.MustCompile(`arn:([\w-]+):[^"]*`).FindAllStringSubmatch(str(r.Properties), -1) {
			if arn[1] != "aws-us-gov" && !strings.Contains(arn[0], account) {
				t.Errorf("template.yaml: in GovCloud %s has the ARN %s", name, arn[0])
			}
		}
	}
	const want = "https://${TokenDomain}.auth-fips.us-gov-west-1.amazoncognito.com/oauth2/token"
	if got := str(s.Outputs["TokenUrl"], "Value"); got != want {
		t.Errorf("template.yaml: in GovCloud TokenUrl is %s, want %s", got, want)
	}
}

// The stack policy, docs/stack-policy.json, keeps the data from being replaced. It names types, since
// AWS refuses one that names a resource whose condition is false:
// https://github.com/sparkleformation/sfn/issues/238
func TestStackPolicy(t *testing.T) {
	t.Parallel()
	policy := readFile(t, "docs/stack-policy.json")
	for name, r := range deploy(t, nil).Resources {
		data := r.DeletionPolicy == "Retain" && r.Type != "AWS::Lambda::Version" || r.Type == "AWS::Logs::LogGroup"
		if data && !strings.Contains(policy, `"`+r.Type+`"`) {
			t.Errorf("docs/stack-policy.json must name %s, the type of %s", r.Type, name)
		}
	}
}
