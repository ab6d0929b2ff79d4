package template

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
)

const function = "PlantFunction"

var otherIssuer = map[string]string{"TokenIssuer": "https://example.eu.auth0.com/", "TokenAudience": "plants,api://plants"}

func TestEnvironmentNames(t *testing.T) {
	t.Parallel()
	others := func(name string) bool { return name == config.CORSOrigins || name == config.NewVersion } // of other programs
	read := append(slices.DeleteFunc(config.Names(), others),
		"AWS_ENDPOINT_URL_DYNAMODB", // by the AWS SDK
		"GOGC", "GOMAXPROCS",        // by the Go runtime
	)
	set := deploy(t, nil).environment()
	for _, name := range read {
		if _, ok := set[name]; !ok {
			t.Errorf("template.yaml: add %s to the Variables of %s: the program reads it, and sam local can't set what is missing there", name, function)
		}
	}
	for name := range set {
		if !slices.Contains(read, name) {
			t.Errorf("template.yaml: remove %s from the Variables of %s, or add it to Names in internal/config: the program doesn't read it", name, function)
		}
	}
}

// The program starts with the variables that the template sets, and accepts the
// tokens that it should.
func TestEnvironmentValues(t *testing.T) {
	t.Parallel()
	const pool = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_1a2B3c"
	for _, tt := range []struct {
		parameters map[string]string
		issuer     string
		audiences  []string
	}{
		{nil, pool, []string{"UserClient"}},
		{map[string]string{"MachineClient": "true"}, pool, []string{"UserClient", "ProgramClient"}},
		{otherIssuer, otherIssuer["TokenIssuer"], []string{"plants", "api://plants"}},
		{map[string]string{"ExistingTable": "plants-restored"}, pool, []string{"UserClient"}},
	} {
		s := deploy(t, tt.parameters)
		variables := s.environment()
		real := strings.NewReplacer("${UserPool.ProviderURL}", pool, "${", "", "}", "")
		c, err := config.FromEnv(func(name string) string { return real.Replace(str(variables, name)) })
		if err != nil {
			t.Errorf("with %v the program does not start: %v", tt.parameters, err)
			continue
		}
		table := cmp.Or(tt.parameters["ExistingTable"], "PlantTable")
		if c.Table != table || c.Tokens.Issuer != tt.issuer || !slices.Equal(c.Tokens.Audiences, tt.audiences) {
			t.Errorf("with %v the program uses the table %s and tokens of %s for %q", tt.parameters, c.Table, c.Tokens.Issuer, c.Tokens.Audiences)
		}
		if s.Resources["PlantTable"].Type != "" != (table == "PlantTable") || s.Resources["UserPool"].Type != "" != (tt.issuer == pool) {
			t.Errorf("with %v the stack has a table or a user pool that the program doesn't use, or lacks one", tt.parameters)
		}
		monitored, output := str(s.Resources["Monitoring"].Properties, "Parameters", "Table"), str(s.Outputs["TableName"], "Value")
		if used := str(variables, "TABLE_NAME"); monitored != used || output != used {
			t.Errorf("with %v the alarms watch the table %s, and the output is %s", tt.parameters, monitored, output)
		}
	}
}

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
	got := deploy(t, nil).Resources["PlantTable"].Properties
	for key := range want {
		if str(got, key) != str(want, key) {
			t.Errorf("template.yaml: %s of PlantTable is %s; dynamo.TableInput has %s", key, str(got, key), str(want, key))
		}
	}
	for key := range got {
		if want[key] == nil {
			t.Errorf("template.yaml: PlantTable has %s, which dynamo.TableInput lacks", key)
		}
	}
}

// prune removes members that are null.
func prune(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			prune(e)
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, e any) bool { return e == nil })
		for _, e := range v {
			prune(e)
		}
	}
}

// The function's role allows the actions of dynamo.Actions, writing logs and, on
// demand, traces.
func TestPermissions(t *testing.T) {
	t.Parallel()
	checkPermissions(t, nil, "${PlantTable}")
	checkPermissions(t, map[string]string{"ExistingTable": "restored", "Tracing": "true"}, "restored",
		"xray:PutTraceSegments *", "xray:PutTelemetryRecords *")
}

func checkPermissions(t *testing.T, parameters map[string]string, table string, others ...string) {
	s := deploy(t, parameters)
	arn := "arn:aws:dynamodb:eu-central-1:${AWS::AccountId}:table/" + table
	arns := map[string]string{"PlantTable": arn, "PlantTable/index/owner-index": arn + "/index/owner-index"}
	want := append(others, "logs:CreateLogStream ${FunctionLogs.Arn}", "logs:PutLogEvents ${FunctionLogs.Arn}")
	for kind, actions := range dynamo.Actions {
		for _, action := range actions {
			want = append(want, action+" "+arns[kind])
		}
	}
	got := s.allowed("FunctionRole")
	for _, permission := range got {
		if !slices.Contains(want, permission) {
			action, _, _ := strings.Cut(permission, " ")
			t.Errorf("%s: remove %s: the store doesn't use it (dynamo.Actions)", line(t, action), permission)
		}
	}
	for _, permission := range want {
		if !slices.Contains(got, permission) {
			t.Errorf("%s: allow %s: the function uses it (dynamo.Actions)", line(t, "TablePolicy:\n"), permission)
		}
	}

	if !slices.Contains(oneOrMore(s.Resources[function].DependsOn), "TablePolicy") {
		t.Errorf("template.yaml: %s needs DependsOn: TablePolicy, or a new version may be tried before it has permissions", function)
	}
	if got := str(s.Resources[function].Properties, "Role"); got != "${FunctionRole.Arn}" {
		t.Errorf("template.yaml: the role of %s is %s, which this test doesn't know", function, got)
	}
	for name, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::IAM::") && r.Type != "AWS::IAM::RolePolicy" &&
			name != "FunctionRole" && name != "HookRole" && name != "CodeDeployServiceRole" {
			t.Errorf("template.yaml: %s may grant the function more than this test sees", name)
		}
	}
	if policies := str(s.Resources["FunctionRole"].Properties, "ManagedPolicyArns"); policies != "" {
		t.Errorf("template.yaml: remove the managed policies %s: they may grant more than the function uses", policies)
	}
}
