package template

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/testing/openapi"
)

// The function has exactly the variables that the program reads, which starts with them.
// It requires scopes, except with the tokens of the stack's own pool, which don't name any.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	want := []string{"AWS_ENDPOINT_URL_DYNAMODB", "GOMAXPROCS", "SSL_CERT_DIR"} // read by the AWS SDK and Go itself
	config.FromEnv(func(name string) string {
		want = append(want, name)
		return ""
	})
	slices.Sort(want)
	want = slices.Compact(want)
	const issuer = "TokenIssuer=https://a.example/ TokenAudience=plants "
	reference := regexp.MustCompile(`\$\{(.*?)\}`)
	for _, test := range []struct {
		parameters     map[string]string
		requiresScopes bool
	}{
		{nil, false},
		{everything(t), true}, // with RequireScopes=true
		{overrides(issuer), true},
		{overrides(issuer + "RequireScopes=false"), false},
		{everythingElse(t), true},
	} {
		properties := deploy(t, test.parameters).Resources[function].Properties
		variables, _ := at(properties, "Environment", "Variables").(map[string]any)
		if got := slices.Sorted(maps.Keys(variables)); !slices.Equal(got, want) {
			t.Errorf("template.yaml: with %q the function has the variables\n%q, want those that the program reads,\n%q;"+
				" sam local can't set others", test.parameters, got, want)
		}
		program, err := config.FromEnv(func(name string) string {
			value := strings.ReplaceAll(str(variables, name), "${UserPool.ProviderURL}", "https://pool.example")
			return reference.ReplaceAllString(value, "$1")
		})
		if err != nil {
			t.Errorf("template.yaml: with %q the program does not start: %v", test.parameters, err)
			continue
		}
		if got := !program.Tokens.ScopesOptional; got != test.requiresScopes {
			t.Errorf("template.yaml: with %q the program requires scopes: %t, want %t",
				test.parameters, got, test.requiresScopes)
		}
	}
}

// Each of the stack's tables is the one that the program creates in DynamoDB Local. TestProtection
// checks what protects it.
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
	for name, r := range deploy(t, nil).Resources {
		got := maps.Clone(r.Properties)
		delete(got, "DeletionProtectionEnabled")
		delete(got, "PointInTimeRecoverySpecification")
		if r.Type == "AWS::DynamoDB::Table" && str(got) != str(want) {
			t.Errorf("template.yaml: %s is\n%s\nwant dynamo.TableInput,\n%s", name, str(got), str(want))
		}
	}
}

// The function's role allows dynamo.TableActions on the table and dynamo.IndexActions
// on its index, writing logs and traces, and nothing else. An earlier version needs the
// same, so no other parameter changes it.
func TestPermissions(t *testing.T) {
	t.Parallel()
	checkPermissions(t, nil, "${PlantTable}")
	checkPermissions(t, everythingElse(t), "restored")
}

func checkPermissions(t *testing.T, parameters map[string]string, tables ...string) {
	t.Helper()
	s := deploy(t, parameters)
	want := []string{
		"logs:CreateLogStream ${FunctionLogs.Arn}", "logs:PutLogEvents ${FunctionLogs.Arn}",
		"xray:PutTraceSegments *", "xray:PutTelemetryRecords *",
	}
	for _, table := range tables {
		arn := " arn:aws:dynamodb:eu-central-1:${AWS::AccountId}:table/" + table
		for _, action := range dynamo.TableActions {
			want = append(want, action+arn)
		}
		for _, action := range dynamo.IndexActions {
			want = append(want, action+arn+"/index/"+dynamo.OwnerIndex)
		}
	}
	if !slices.Contains(list(s.Resources[function].DependsOn), any("TablePolicy")) {
		t.Errorf("template.yaml: %s needs DependsOn: TablePolicy, or a new version may be tried before it has permissions",
			function)
	}
	got := s.allowed("FunctionRole")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("template.yaml: the policies of FunctionRole allow\n%s\nwant those of package dynamo, logs and tracing:\n%s",
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := str(s.Resources[function].Properties, "Role"); got != "${FunctionRole.Arn}" {
		t.Errorf("template.yaml: the role of %s is %s, which this test doesn't know", function, got)
	}
	want = []string{"arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda"}
	if got := s.allowed("CodeDeployServiceRole"); !slices.Equal(got, want) {
		t.Errorf("template.yaml: the policies of CodeDeployServiceRole allow %q, want %q", got, want)
	}
	for name, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::IAM::") && r.Type != "AWS::IAM::Role" && r.Type != "AWS::IAM::RolePolicy" {
			t.Errorf("template.yaml: %s may grant permissions, and this test doesn't know an %s", name, r.Type)
		}
	}
}

// allowed returns what the policies of a role allow, as "action resource", and the
// managed policies. A statement that says more is returned as it is.
func (s stack) allowed(role string) (all []string) {
	policies := slices.Clone(list(s.Resources[role].Properties, "Policies"))
	for _, r := range s.Resources {
		if r.Type == "AWS::IAM::RolePolicy" && str(r.Properties, "RoleName") == "${"+role+"}" {
			policies = append(policies, r.Properties)
		}
	}
	for _, policy := range policies {
		for _, statement := range list(policy, "PolicyDocument", "Statement") {
			if object, _ := statement.(map[string]any); str(statement, "Effect") != "Allow" || len(object) != 3 {
				all = append(all, str(statement))
			}
			for _, action := range list(statement, "Action") {
				for _, resource := range list(statement, "Resource") {
					all = append(all, str(action)+" "+str(resource))
				}
			}
		}
	}
	for _, arn := range list(s.Resources[role].Properties, "ManagedPolicyArns") {
		all = append(all, str(arn))
	}
	slices.Sort(all)
	return all
}

// The user pool has the scopes of the routes, and the client of programs may use them.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := deploy(t, everything(t))
	server, client := s.Resources["PlantScopes"].Properties, s.Resources["ProgramClient"]
	var defined, allowed []string
	for _, scope := range list(server, "Scopes") {
		defined = append(defined, str(server, "Identifier")+"/"+str(scope, "ScopeName"))
	}
	for _, scope := range list(client.Properties, "AllowedOAuthScopes") {
		allowed = append(allowed, str(scope))
	}
	slices.Sort(defined)
	slices.Sort(allowed)
	if want := handlers.Scopes(); !slices.Equal(defined, want) || !slices.Equal(allowed, want) {
		t.Errorf("template.yaml: PlantScopes defines %q, and ProgramClient may use %q; the routes have %q",
			defined, allowed, want)
	}
	if !slices.Contains(list(client.DependsOn), any("PlantScopes")) {
		t.Error("template.yaml: ProgramClient needs DependsOn: PlantScopes, or Cognito may not know its scopes yet")
	}
}

// Pages of the given origins, and of no others, may use everything that the
// OpenAPI document describes.
func TestCORS(t *testing.T) {
	t.Parallel()
	cors := at(deploy(t, everything(t)).Resources["PlantApi"].Properties, "Body", "x-amazon-apigateway-cors")
	origins, credentials := str(cors, "allowOrigins"), at(cors, "allowCredentials")
	if origins != `["https://a.example","http://localhost:3000"]` || credentials != nil {
		t.Errorf("template.yaml: CORS allows the origins %s, with credentials: %v", origins, credentials)
	}
	use := map[string]bool{"Authorization": true, "Content-Type": true}
	d := openapi.Read()
	for _, op := range append(d.Operations, d.Other) {
		use[op.Method] = op != d.Other
		for _, p := range op.Parameters {
			use[p.Name] = p.In == "header"
		}
		for _, resp := range op.Responses {
			for name := range resp.Headers {
				// Pages may always read the first, and needn't read the second.
				use[name] = name != "Cache-Control" && name != "X-Content-Type-Options"
			}
		}
	}
	for name, used := range use {
		if used && !strings.Contains(str(cors), `"`+name+`"`) {
			t.Errorf("template.yaml: add %s to CorsConfiguration: api/openapi.yaml documents it", name)
		}
	}
}
