package template

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/dynamo"
)

// The stack's table is the one that the program makes in DynamoDB Local, protected.
func TestTableSchema(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(dynamo.TableInput(""))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "TableName") // CloudFormation chooses it
	want["DeletionProtectionEnabled"] = true
	want["PointInTimeRecoverySpecification"] = map[string]any{"PointInTimeRecoveryEnabled": true}
	prune(want)
	if got := str(deploy(t, nil).Resources["PlantTable"].Properties); got != str(want) {
		t.Errorf("template.yaml: PlantTable is\n%s\nwant dynamo.TableInput, protected and with recovery,\n%s", got, str(want))
	}
}

// prune removes members that are null or empty.
func prune(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			prune(e)
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, e any) bool { return e == nil || e == "" })
		for _, e := range v {
			prune(e)
		}
	}
}

// The function's role allows the actions of dynamo.Actions, writing logs and traces,
// and nothing else. An earlier version needs the same, so no other parameter changes it.
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
	for resource, actions := range dynamo.Actions {
		id, _, _ := strings.Cut(resource, "/")
		name := "${" + id + "}"
		if id == "PlantTable" {
			name = table
		}
		for _, action := range actions {
			want = append(want, action+" arn:aws:dynamodb:eu-central-1:${AWS::AccountId}:table/"+name+strings.TrimPrefix(resource, id))
		}
	}
	got := s.allowed("FunctionRole")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		without := func(a, b []string) []string {
			return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
		}
		t.Errorf("template.yaml: TablePolicy or FunctionRole lacks %q, and has %q that neither dynamo.Actions nor the logs need", without(want, got), without(got, want))
	}
	if !slices.Contains(oneOrMore(s.Resources[function].DependsOn), "TablePolicy") {
		t.Errorf("template.yaml: %s needs DependsOn: TablePolicy, or a new version may be tried before it has permissions", function)
	}
	if got := str(s.Resources[function].Properties, "Role"); got != "${FunctionRole.Arn}" {
		t.Errorf("template.yaml: the role of %s is %s, which this test doesn't know", function, got)
	}
	if policies := str(s.Resources["FunctionRole"].Properties, "ManagedPolicyArns"); policies != "" {
		t.Errorf("template.yaml: remove the managed policies %s: they may grant more than the function uses", policies)
	}
}

// The alarms watch the table's actions, and writes of the table and its index.
func TestTableAlarms(t *testing.T) {
	t.Parallel()
	s := deploy(t, overrides("AlarmTopic="+topic+" ExistingTable=restored"))
	var want, got []string
	for resource, actions := range dynamo.Actions {
		_, index, _ := strings.Cut(resource, "/index/")
		dimensions := []any{map[string]any{"Name": "TableName", "Value": "restored"}}
		if index != "" {
			dimensions = append(dimensions, map[string]any{"Name": "GlobalSecondaryIndexName", "Value": index})
		}
		want = append(want, "WriteThrottles "+str(dimensions))
		for _, action := range actions {
			operation := map[string]any{"Name": "Operation", "Value": strings.TrimPrefix(action, "dynamodb:")}
			want = append(want, "TableErrors "+str([]any{dimensions[0], operation}))
		}
	}
	for _, alarm := range []string{"TableErrors", "WriteThrottles"} {
		for _, m := range list(s.Resources[alarm].Properties, "Metrics") {
			if dimensions := at(m, "MetricStat", "Metric", "Dimensions"); dimensions != nil {
				got = append(got, alarm+" "+str(dimensions))
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("template.yaml: the alarms watch\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
