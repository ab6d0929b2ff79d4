package template

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/dynamo"
)

// The stack's table is the one that the program makes in DynamoDB Local, protected.
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
	if got := str(deploy(t, nil).Resources["PlantTable"].Properties); got != str(want) {
		t.Errorf("template.yaml: PlantTable is\n%s\nwant dynamo.TableInput, protected and with recovery,\n%s", got, str(want))
	}
}

// The function's role allows dynamo.TableActions on the table and dynamo.IndexActions
// on its index, writing logs and traces, and nothing else. An earlier version needs the
// same, so no other parameter changes it.
func TestPermissions(t *testing.T) {
	t.Parallel()
	checkPermissions(t, nil, "${PlantTable}")
	checkPermissions(t, overrides("ExistingTable=restored Tracing=true"), "restored")
}

func checkPermissions(t *testing.T, parameters map[string]string, table string) {
	t.Helper()
	s := deploy(t, parameters)
	want := []string{
		"logs:CreateLogStream ${FunctionLogs.Arn}", "logs:PutLogEvents ${FunctionLogs.Arn}",
		"xray:PutTraceSegments *", "xray:PutTelemetryRecords *",
	}
	arn := " arn:aws:dynamodb:eu-central-1:${AWS::AccountId}:table/" + table
	for _, action := range dynamo.TableActions {
		want = append(want, action+arn)
	}
	for _, action := range dynamo.IndexActions {
		want = append(want, action+arn+"/index/"+dynamo.OwnerIndex)
	}
	if !slices.Contains(list(s.Resources[function].DependsOn), any("TablePolicy")) {
		t.Errorf("template.yaml: %s needs DependsOn: TablePolicy, or a new version may be tried before it has permissions", function)
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
