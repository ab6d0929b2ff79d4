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

func TestEnvironmentNames(t *testing.T) {
	t.Parallel()
	read := append(config.Names(),
		"AWS_ENDPOINT_URL_DYNAMODB", // by the AWS SDK
		"GOGC", "GOMAXPROCS",        // by the Go runtime
		"SSL_CERT_FILE", "SSL_CERT_DIR", // by crypto/x509
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
	} {
		variables := deploy(t, tt.parameters).environment()
		real := strings.NewReplacer("${UserPool.ProviderURL}", pool, "${", "", "}", "")
		c, err := config.FromEnv(func(name string) string { return real.Replace(str(variables, name)) })
		if err != nil {
			t.Errorf("with %v the program does not start: %v", tt.parameters, err)
			continue
		}
		if c.Table != "PlantTable" || c.Tokens.Issuer != tt.issuer || !slices.Equal(c.Tokens.Audiences, tt.audiences) {
			t.Errorf("with %v the program uses the table %s and tokens of %s for %q", tt.parameters, c.Table, c.Tokens.Issuer, c.Tokens.Audiences)
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

// The function's role allows the actions of dynamo.Actions, and writing logs.
func TestPermissions(t *testing.T) {
	t.Parallel()
	s := deploy(t, nil)
	arns := map[string]string{"table": "${PlantTable.Arn}", "index": "${PlantTable.Arn}/index/owner-index"}
	want := map[string]bool{"logs:CreateLogStream ${FunctionLogs.Arn}": true, "logs:PutLogEvents ${FunctionLogs.Arn}": true}
	for kind, actions := range dynamo.Actions {
		for _, action := range actions {
			want[action+" "+arns[kind]] = true
		}
	}
	role := s.Resources["FunctionRole"].Properties
	for i := range list(role, "Policies") {
		for _, statement := range list(role, "Policies", i, "PolicyDocument", "Statement") {
			resource := str(statement, "Resource")
			for _, action := range oneOrMore(at(statement, "Action")) {
				if !want[action+" "+resource] {
					t.Errorf("%s: remove %s on %s: the store doesn't use it (dynamo.Actions)", line(t, action), action, resource)
				}
				delete(want, action+" "+resource)
			}
		}
	}
	for missing := range want {
		action, resource, _ := strings.Cut(missing, " ")
		t.Errorf("%s: allow %s on %s: the function uses it (dynamo.Actions)", line(t, "PolicyName: plants"), action, resource)
	}

	if got := str(s.Resources[function].Properties, "Role"); got != "${FunctionRole.Arn}" {
		t.Errorf("template.yaml: the role of %s is %s, which this test doesn't know", function, got)
	}
	for name, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::IAM::") && name != "FunctionRole" && name != "CodeDeployServiceRole" {
			t.Errorf("template.yaml: %s may grant the function more than this test sees", name)
		}
	}
	if policies := str(role, "ManagedPolicyArns"); policies != "" {
		t.Errorf("template.yaml: remove the managed policies %s: they may grant more than the function uses", policies)
	}
}
