package template

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
)

// existing returns the parameter that names an existing table to use.
func existing(table config.Table) string {
	if table == config.PlantTable {
		return "ExistingTable" // which is older than other tables
	}
	return "Existing" + table.Resource
}

// The stack's tables are those that the program makes in DynamoDB Local, protected.
// TestRetention covers how they are retained.
func TestTableSchema(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(dynamo.TableInput("")) // CloudFormation chooses the name
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	unset := regexp.MustCompile(`"\w+":(null|""),|,"\w+":(null|"")`)
	if err := json.Unmarshal(unset.ReplaceAll(b, nil), &want); err != nil {
		t.Fatal(err)
	}
	want["DeletionProtectionEnabled"] = true
	want["PointInTimeRecoverySpecification"] = map[string]any{"PointInTimeRecoveryEnabled": true}
	for _, table := range config.Tables {
		if got := str(deploy(t, nil).Resources[table.Resource].Properties); got != str(want) {
			t.Errorf("template.yaml: %s is\n%s\nwant dynamo.TableInput, protected and with recovery,\n%s", table.Resource, got, str(want))
		}
	}
}

// The function's role allows dynamo.TableActions on each table and dynamo.IndexActions
// on its index, writing logs and traces, and nothing else. An earlier version needs the
// same, so no other parameter changes it.
func TestPermissions(t *testing.T) {
	t.Parallel()
	checkPermissions(t, nil, func(table config.Table) string { return "${" + table.Resource + "}" })
	checkPermissions(t, restored("Tracing=true"), func(table config.Table) string { return "restored-" + table.Default })
}

// restored returns parameters that name a restored table in place of each of the stack.
func restored(more string) map[string]string {
	parameters := overrides(more)
	for _, table := range config.Tables {
		parameters[existing(table)] = "restored-" + table.Default
	}
	return parameters
}

func checkPermissions(t *testing.T, parameters map[string]string, name func(config.Table) string) {
	t.Helper()
	s := deploy(t, parameters)
	want := []string{
		"logs:CreateLogStream ${FunctionLogs.Arn}", "logs:PutLogEvents ${FunctionLogs.Arn}",
		"xray:PutTraceSegments *", "xray:PutTelemetryRecords *",
	}
	for _, table := range config.Tables {
		arn := " arn:aws:dynamodb:eu-central-1:${AWS::AccountId}:table/" + name(table)
		for _, action := range dynamo.TableActions {
			want = append(want, action+arn)
		}
		for _, action := range dynamo.IndexActions {
			want = append(want, action+arn+"/index/"+dynamo.OwnerIndex)
		}
		if policy := strings.TrimPrefix(existing(table), "Existing") + "Policy"; !slices.Contains(list(s.Resources[function].DependsOn), any(policy)) {
			t.Errorf("template.yaml: %s needs DependsOn: %s, or a new version may get traffic before it has permissions", function, policy)
		}
	}
	got := s.allowed("FunctionRole")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("template.yaml: the policies of FunctionRole allow\n%s\nwant those of package dynamo, of the logs and of tracing:\n%s",
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := str(s.Resources[function].Properties, "Role"); got != "${FunctionRole.Arn}" {
		t.Errorf("template.yaml: the role of %s is %s, which this test doesn't know", function, got)
	}
	if got, want := strings.Join(s.allowed("CodeDeployServiceRole"), "\n"), "arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda"; got != want {
		t.Errorf("template.yaml: the policies of CodeDeployServiceRole allow\n%s\nwant\n%s", got, want)
	}
	for name, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::IAM::") && r.Type != "AWS::IAM::Role" && r.Type != "AWS::IAM::RolePolicy" {
			t.Errorf("template.yaml: %s may grant permissions, and this test doesn't know an %s", name, r.Type)
		}
	}
}
