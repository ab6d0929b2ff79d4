package template

import (
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

// The function gets each setting that it reads from its parameter, and starts with
// them. The table is also that of the alarms and of the output.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	const pool = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_1a2B3c"
	defaults := map[string]string{
		config.TableName: "${PlantTable}", config.TokenIssuer: "${UserPool.ProviderURL}", config.TokenAudience: "${UserClient}",
		config.TokenJWKSURL: "", config.TokenJWKS: "", config.RequireScopes: "false", config.LogLevel: "info",
		"AWS_ENDPOINT_URL_DYNAMODB": "", "GOMAXPROCS": "1", "GOGC": "400", // read by the AWS SDK and the Go runtime
	}
	for _, name := range config.Names() {
		if _, ok := defaults[name]; !ok && name != config.CORSOrigins && name != config.NewVersion {
			t.Errorf("add %s to this test and to the Variables of %s in template.yaml: sam local can't set what is missing there", name, function)
		}
	}
	for parameters, changes := range map[string]map[string]string{
		"":                              {},
		"MachineClient=true":            {config.TokenAudience: "${UserClient},${ProgramClient}"},
		"RequireScopes=true":            {config.RequireScopes: "true"},
		"LogLevel=warn":                 {config.LogLevel: "warn"},
		"ExistingTable=plants-restored": {config.TableName: "plants-restored"},
		"TokenIssuer=https://a.example/ TokenAudience=plants,api://plants TokenJwksUrl=https://a.example/keys": {
			config.RequireScopes: "", config.TokenIssuer: "https://a.example/", config.TokenAudience: "plants,api://plants", config.TokenJWKSURL: "https://a.example/keys"},
	} {
		s := deploy(t, overrides(parameters))
		got := map[string]string{}
		variables, _ := at(s.Resources[function].Properties, "Environment", "Variables").(map[string]any)
		for name, value := range variables {
			got[name] = str(value)
		}
		want := maps.Clone(defaults)
		maps.Copy(want, changes)
		if !maps.Equal(got, want) {
			t.Errorf("template.yaml: with %q the function has the variables %q, want %q", parameters, got, want)
		}
		real := strings.NewReplacer("${UserPool.ProviderURL}", pool, "${", "", "}", "")
		if _, err := config.FromEnv(func(name string) string { return real.Replace(got[name]) }); err != nil {
			t.Errorf("with %q the program does not start: %v", parameters, err)
		}
		monitored, output := str(s.Resources["Monitoring"].Properties, "Parameters", "Table"), str(s.Outputs["TableName"], "Value")
		if monitored != want[config.TableName] || output != monitored {
			t.Errorf("template.yaml: with %q the alarms watch the table %s, and the output is %s", parameters, monitored, output)
		}
		created := s.Resources["PlantTable"].Type != "" == strings.Contains(want[config.TableName], "${") &&
			s.Resources["UserPool"].Type != "" == strings.Contains(want[config.TokenIssuer], "${")
		if !created {
			t.Errorf("template.yaml: with %q the stack has a table or a user pool that the function doesn't use, or lacks one", parameters)
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
